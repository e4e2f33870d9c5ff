import packageJson from '../../package.json' with { type: 'json' }
import type { Secret } from '../core/secret.ts'
import { commandFolder } from '../core/shipped-files.ts'

interface Shown {
  readonly firstKey: Secret | undefined
  readonly withSandbox: boolean
  readonly commandFolder: string | undefined
}

export function welcome(url: string, shown: Shown): string {
  const lines = [`Gatehouse ${packageJson.version} is listening on ${url}`]
  if (shown.firstKey !== undefined) {
    const key = shown.firstKey.reveal()
    lines.push('', 'Your first API key, shown only this once:', '', `  ${key}`)
    lines.push('', 'For the command line, in another terminal:', '')
    lines.push(`  export GATEHOUSE_URL=${url} GATEHOUSE_API_KEY=${key}`)
    if (shown.commandFolder !== undefined)
      lines.push(`  export PATH=${quoteForShell(shown.commandFolder)}:$PATH`)
  }
  if (shown.withSandbox) {
    const key = shown.firstKey?.reveal() ?? '$GATEHOUSE_API_KEY'
    lines.push(
      '',
      "Try it: the gate 'demo' answers from the built-in sandbox, which is not a real model.",
      '',
      `  curl ${url}/v1/responses \\`,
      `    -H "Authorization: Bearer ${key}" \\`,
      '    -H "Content-Type: application/json" \\',
      `    -d '{"model": "demo", "input": "Hello, gateway"}'`,
    )
  }
  const start = shown.firstKey === undefined ? '' : `/welcome#key=${shown.firstKey.reveal()}`
  lines.push('', `The dashboard: ${url}/dashboard${start}`)
  lines.push(`The API: ${url}/docs, machine-readable: ${url}/openapi.json`, '')
  return `${lines.join('\n')}\n`
}

function quoteForShell(folder: string): string {
  return /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`
}

export function folderToAdd(path = process.env.PATH ?? ''): string | undefined {
  return path.split(':').includes(commandFolder ?? '') ? undefined : commandFolder
}
