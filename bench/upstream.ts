/** The fixed upstreams: nginx for whole answers, so that it is never the bottleneck, and a paced one for streams. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOAD_CORE, startPinned, untilAnswers } from './pinned-process.ts'

const JSON_PORT = 19_200
const STREAM_PORT = 19_210

export const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello from the fixed upstream', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
})

export function nginxConfiguration(name: string, folder: string, servers: string): string {
  return `daemon off; worker_processes 1; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log crit;
    events { worker_connections 16384; }
    http { access_log off; keepalive_requests 1000000000; client_max_body_size 64m; client_body_buffer_size 2m;
      client_body_temp_path ${folder}/${name}-body; proxy_temp_path ${folder}/${name}-proxy; fastcgi_temp_path ${folder}/${name}-f;
      uwsgi_temp_path ${folder}/${name}-u; scgi_temp_path ${folder}/${name}-s; ${servers} }`
}

export interface Upstream {
  readonly url: string
  stop(): Promise<void>
}

export async function startJsonUpstream(folder: string): Promise<Upstream> {
  const path = join(folder, 'upstream.conf')
  const server = `server { listen 127.0.0.1:${JSON_PORT} backlog=8192; location / { default_type application/json; return 200 '${ANSWER}'; } }`
  writeFileSync(path, nginxConfiguration('upstream', folder, server))
  const process = startPinned(LOAD_CORE, ['nginx', '-c', path, '-p', folder])
  const url = `http://127.0.0.1:${JSON_PORT}`
  await untilAnswers(process, url)
  return { url, stop: () => process.stop() }
}

export async function startStreamUpstream(): Promise<Upstream> {
  const server = startPinned(LOAD_CORE, [process.execPath, 'bench/paced-stream.ts', String(STREAM_PORT)])
  const url = `http://127.0.0.1:${STREAM_PORT}`
  await untilAnswers(server, url)
  return { url, stop: () => server.stop() }
}
