/**
 * nginx as a plain reverse proxy: the cost of moving bytes in C, without keys, limits or ledger.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contender } from '../contender.ts'
import { CONTENDER_CORE, startPinned, untilAnswers } from '../pinned-process.ts'
import { PORTS } from '../ports.ts'
import { nginxConfiguration } from '../upstream.ts'

const PORT = PORTS.nginx

export const nginx: Contender = {
  name: 'nginx',
  features: 'proxy_pass, one worker, keep-alive to the upstream; no key, no limit, no ledger',
  async start({ url, folder, streams, authority }) {
    const path = join(folder, 'proxy.conf')
    const { protocol, host, hostname, port } = new URL(url)
    const verifying =
      authority === undefined
        ? ''
        : `proxy_ssl_verify on; proxy_ssl_trusted_certificate ${authority}; proxy_ssl_name ${hostname}; proxy_ssl_server_name on;`
    const address4 = hostname === 'localhost' ? `127.0.0.1:${port}` : host
    const server = `
      upstream fixed { server ${address4}; keepalive 2048; keepalive_requests 1000000000; }
      server { listen 127.0.0.1:${PORT} backlog=8192; proxy_buffering ${streams ? 'off' : 'on'};
        location / { proxy_pass ${protocol}//fixed; ${verifying} proxy_http_version 1.1; proxy_set_header Connection ""; } }`
    writeFileSync(path, nginxConfiguration('proxy', folder, server))
    const process = startPinned(CONTENDER_CORE, ['nginx', '-c', path, '-p', folder], {
      port: PORT,
    })
    const address = `http://127.0.0.1:${PORT}`
    const startMs = await untilAnswers(process, address)
    return {
      url: `${address}/v1/chat/completions`,
      headers: {},
      model: 'gpt-4o',
      process,
      startMs,
      stop: () => process.stop(),
    }
  },
}
