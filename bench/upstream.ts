/**
 * The fixed upstreams: nginx for complete answers, so that it is never the bottleneck, and a paced
 * upstream for streams.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOCALHOST_CERTIFICATE } from '../test/support/tls-certificates.ts'
import { LOAD_CORE, startPinned, untilAnswers } from './pinned-process.ts'
import { PORTS } from './ports.ts'

const COUNTS_PATH = '/connection-counts'

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

export interface JsonUpstream extends Upstream {
  /** Returns the same answers over TLS, with a certificate for `localhost`. */
  readonly secureUrl: string
  /** The file with the certificate, which is its own authority. */
  readonly authority: string
  /** Connections accepted so far, except those of this function. */
  connectionsAccepted(): Promise<number>
}

export async function startJsonUpstream(folder: string): Promise<JsonUpstream> {
  const path = join(folder, 'upstream.conf')
  const authority = join(folder, 'upstream.crt')
  const key = join(folder, 'upstream.key')
  writeFileSync(authority, LOCALHOST_CERTIFICATE.cert)
  writeFileSync(key, LOCALHOST_CERTIFICATE.key, { mode: 0o600 })
  const answer = `location / { default_type application/json; return 200 '${ANSWER}'; }`
  const servers = `
    server { listen 127.0.0.1:${PORTS.jsonUpstream} backlog=8192; location = ${COUNTS_PATH} { stub_status; } ${answer} }
    server { listen 127.0.0.1:${PORTS.tlsUpstream} ssl backlog=8192; ssl_certificate ${authority}; ssl_certificate_key ${key};
      ssl_session_cache shared:tls:8m; ${answer} }`
  writeFileSync(path, nginxConfiguration('upstream', folder, servers))
  const process = startPinned(LOAD_CORE, ['nginx', '-c', path, '-p', folder])
  const url = `http://127.0.0.1:${PORTS.jsonUpstream}`
  await untilAnswers(process, url)
  let ownConnections = 0
  return {
    url,
    secureUrl: `https://localhost:${PORTS.tlsUpstream}`,
    authority,
    async connectionsAccepted() {
      // A new connection each time, so that these connections can be subtracted.
      const response = await fetch(url + COUNTS_PATH, { keepalive: false })
      ownConnections += 1
      return readAccepted(await response.text()) - ownConnections
    },
    stop: () => process.stop(),
  }
}

/** @param page nginx's stub_status page */
export function readAccepted(page: string): number {
  const accepted = /accepts handled requests\n +(\d+) /.exec(page)?.[1]
  if (accepted === undefined) throw new Error(`nginx reported no number of connections: ${page}`)
  return Number(accepted)
}

export async function startStreamUpstream(): Promise<Upstream> {
  const server = startPinned(LOAD_CORE, [
    process.execPath,
    'bench/paced-stream.ts',
    String(PORTS.streamUpstream),
  ])
  const url = `http://127.0.0.1:${PORTS.streamUpstream}`
  await untilAnswers(server, url)
  return { url, stop: () => server.stop() }
}
