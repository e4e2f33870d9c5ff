#!/usr/bin/env bun
/**
 * The program starts here: a command in this process, with its environment. compose.ts constructs,
 * server.ts listens.
 */
import { isServing, prepareProcess } from './run/prepare-process.ts'

const words = process.argv.slice(2)
// Before the command line is loaded, which would be loaded again after it.
if (isServing(words)) prepareProcess()
const { runProgram } = await import('./cli/program.ts')
const { processTerminal } = await import('./cli/process-terminal.ts')
const { createCliContext } = await import('./run/create-cli-context.ts')

const context = createCliContext({
  environment: process.env,
  folder: process.cwd(),
  terminal: processTerminal,
  async serve(flags) {
    const { serveFromFlags } = await import('./run/serve-from-flags.ts')
    await serveFromFlags(process.env, flags)
  },
})

process.exitCode = await runProgram(context, words)
