/**
 * `GET /docs`: the OpenAPI document for reading and trying, rendered by Swagger UI from this
 * gateway's own files. Public; contacts no other host.
 */
import { shippedFile } from '../../core/shipped-files.ts'
import type { ControlPlaneApp } from '../control-plane-app.ts'

const DOCS_PATH = '/docs'

/**
 * Only the gateway's own scripts, none inline. Swagger UI writes `style` attributes and loads its
 * icons from `data:` addresses; requests that a reader tries can only go to this gateway.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatehouse: the interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/gatehouse.css">
</head>
<body>
<noscript>This page needs JavaScript. The same, machine-readable: <a href="/openapi.json">/openapi.json</a></noscript>
<div id="interface"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/gatehouse.js"></script>
</body>
</html>
`

interface Asset {
  readonly type: string
  readonly read: () => string | Blob
}

const STYLE = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const ASSETS: Readonly<Record<string, Asset>> = {
  [DOCS_PATH]: { type: 'text/html; charset=utf-8', read: () => PAGE },
  [`${DOCS_PATH}/gatehouse.css`]: {
    type: STYLE,
    read: () => fileAt('src/admin/openapi/docs-page.css'),
  },
  [`${DOCS_PATH}/gatehouse.js`]: {
    type: SCRIPT,
    read: () => fileAt('src/admin/openapi/docs-page.browser.js'),
  },
  [`${DOCS_PATH}/swagger-ui.css`]: {
    type: STYLE,
    read: () => fileAt('node_modules/swagger-ui-dist/swagger-ui.css'),
  },
  [`${DOCS_PATH}/swagger-ui-bundle.js`]: {
    type: SCRIPT,
    read: () => fileAt('node_modules/swagger-ui-dist/swagger-ui-bundle.js'),
  },
}

export const DOCS_PATHS = Object.keys(ASSETS)

export function bindDocs(app: ControlPlaneApp): void {
  for (const [path, { type, read }] of Object.entries(ASSETS)) {
    app.get(path, () => {
      return new Response(read(), {
        headers: {
          'content-type': type,
          'content-security-policy': CONTENT_SECURITY_POLICY,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        },
      })
    })
  }
}

function fileAt(path: string): Blob {
  return Bun.file(shippedFile(path))
}
