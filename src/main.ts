#!/usr/bin/env bun
/** Where the program starts. It only hands the command line what it needs; compose.ts constructs, server.ts listens. */
import { readSettings } from './config/settings.ts'
import { serve } from './serve.ts'

await serve({ settings: readSettings(process.env), withSandbox: process.argv.includes('--sandbox') })
