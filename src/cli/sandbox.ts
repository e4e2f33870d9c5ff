import type { Command } from 'commander'
import { printJson, printLine } from './output.ts'
import { asJson, example, parsePort, parseWhole } from './program-parts.ts'
import { withoutTerminal } from './terminal.ts'

interface SandboxFlags {
  readonly host: string
  readonly port: number
  readonly delayMs: number
}

export function bindSandbox(program: Command): void {
  program
    .command('sandbox')
    .description('run the sandbox provider alone: deterministic answers, and faults on request')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0: any free port', parsePort, 4010)
    .option(
      '--delay-ms <ms>',
      'pause between the events of a stream',
      (text) => parseWhole(text, { min: 0, max: 60_000 }),
      0,
    )
    .addHelpText(
      'after',
      example(
        'gatehouse sandbox --port 4010',
        'OPENAI_BASE_URL=http://127.0.0.1:4010/v1 OPENAI_API_KEY=x gatehouse serve',
      ),
    )
    .action(async ({ host, port, delayMs }: SandboxFlags, command: Command) => {
      const { startSandbox } = await import('../sandbox/start-sandbox.ts')
      const sandbox = withoutTerminal(() =>
        startSandbox({ hostname: host, port, chunkDelayMs: delayMs }),
      )
      const stop = () => void sandbox.stop().then(() => process.exit(0))
      process.once('SIGTERM', stop)
      process.once('SIGINT', stop)
      // Without a listener, each of these signals would end the process.
      for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
      if (asJson(command)) return printJson({ url: sandbox.url })
      printLine(
        `The sandbox provider is listening on ${sandbox.url}. No answer of it ` +
          'comes from a real model.',
      )
      printLine('')
      printLine(
        'Models: echo, echo-reasoning, codestral; faults: 429, 500, slow, hang, ' +
          'cut-mid-stream, bad-json and more.',
      )
      printLine('')
      printLine(`  curl ${sandbox.url}/v1/responses -H 'Authorization: Bearer any-key' \\`)
      printLine(`    -H 'Content-Type: application/json' -d '{"model": "echo", "input": "Hello"}'`)
    })
}
