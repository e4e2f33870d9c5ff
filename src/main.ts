#!/usr/bin/env bun
/** Where the program starts: hands the command line what it may use. compose.ts constructs, server.ts listens. */
import packageJson from '../package.json' with { type: 'json' }
import type { CliContext } from './cli/context.ts'
import { runProgram } from './cli/program.ts'
import { prepareProcess } from './prepare-process.ts'

const context: CliContext = {
  version: packageJson.version,
  environment: process.env,
  async serve(flags) {
    prepareProcess()
    const { serveFromFlags } = await import('./serve-from-flags.ts')
    await serveFromFlags(process.env, flags)
  },
  async openLocal() {
    const { openLocalGateway } = await import('./open-local-gateway.ts')
    return await openLocalGateway(process.env)
  },
  async openLocalUsers() {
    const { openLocalUsers } = await import('./open-local-users.ts')
    return await openLocalUsers(process.env)
  },
  masterKey: {
    async status() {
      const { masterKeyStatus } = await import('./rotate-master-key.ts')
      return await masterKeyStatus(process.env)
    },
    async rotate() {
      const { rotateMasterKey } = await import('./rotate-master-key.ts')
      return await rotateMasterKey(process.env)
    },
  },
  async copyStore() {
    const { copyLocalStore } = await import('./copy-local-store.ts')
    return await copyLocalStore(process.env)
  },
  async acceptStore() {
    const { acceptLocalStore } = await import('./accept-local-store.ts')
    return await acceptLocalStore(process.env)
  },
  async examine() {
    const { examine } = await import('./doctor/examine.ts')
    const { version, dependencies } = packageJson
    return await examine({ environment: process.env, version, pinnedRuntime: dependencies.bun })
  },
}

process.exitCode = await runProgram(context, process.argv.slice(2))
