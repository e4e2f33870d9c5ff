#!/usr/bin/env bun
/** Where the program starts: a command in this process, with its environment. compose.ts constructs, server.ts listens. */
import { processTerminal } from './cli/process-terminal.ts'
import { runProgram } from './cli/program.ts'
import { createCliContext } from './create-cli-context.ts'
import { prepareProcess } from './prepare-process.ts'

const context = createCliContext({
  environment: process.env,
  folder: process.cwd(),
  terminal: processTerminal,
  async serve(flags) {
    prepareProcess()
    const { serveFromFlags } = await import('./serve-from-flags.ts')
    await serveFromFlags(process.env, flags)
  },
})

process.exitCode = await runProgram(context, process.argv.slice(2))
