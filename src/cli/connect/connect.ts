/** `gatehouse connect CLIENT`: writes a client's own configuration; `gatehouse token` prints the token. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { describeUnusableKey, GATEWAY_ADDRESS_FORM, parseGatewayAddress } from '../../core/http.ts'
import { CliError } from '../cli-error.ts'
import { type Client, withClient } from '../client.ts'
import type { CliContext } from '../context.ts'
import { canAsk, readSecret } from '../input.ts'
import { printJson, printLine, printNote } from '../output.ts'
import { asJson, example } from '../program-parts.ts'
import { terminal } from '../terminal.ts'
import {
  CLIENTS,
  type ConnectedClient,
  type Connection,
  chatCall,
  configFolderOf,
  printToken,
} from './clients.ts'
import { backupOf, ConnectedFiles } from './connected-files.ts'
import { diffLines } from './line-diff.ts'

interface ConnectFlags {
  readonly url?: string
  readonly tokenFile?: string
  readonly gate?: string
  readonly smallGate?: string
  readonly yes?: boolean
  readonly undo?: boolean
}

export function bindConnect(program: Command, context: CliContext): void {
  const connect = program
    .command('connect')
    .description('write the configuration of an agent, so that it calls a gate')
  for (const [name, client] of Object.entries<ConnectedClient>(CLIENTS))
    addOptions(
      connect
        .command(name)
        .description(`configure ${client.title}: shows the change, asks, and keeps a backup`)
        .option('--yes', 'write without asking')
        .option('--undo', 'restore what was there before'),
      name,
    ).action(async (flags: ConnectFlags, command: Command) => {
      const files = new ConnectedFiles(configFolderOf(context.environment))
      const file = client.file(context.environment)
      if (flags.undo) return await undo(files, name, file, flags)
      await connectClient({ context, files, name, client, file }, flags, asJson(command))
    })
  addOptions(
    connect
      .command('env')
      .description('save the token, and print the variables for OpenAI and Anthropic SDKs'),
    'env',
  ).action(async (flags: ConnectFlags, command: Command) => {
    const files = new ConnectedFiles(configFolderOf(context.environment))
    await connectEnvironment(context, files, flags, asJson(command))
  })
}

function addOptions(command: Command, name: string): Command {
  command
    .option('--url <address>', 'address of the gateway (GATEHOUSE_URL)')
    .option('--token-file <path>', 'file with the token (GATEHOUSE_TOKEN, else asked for)')
    .option('--gate <id>', 'gate to call (the only one that the token may call)')
  if (name === 'claude-code' || name === 'opencode')
    command.addOption(new Option('--small-gate <id>', 'gate for small tasks (the same gate)'))
  return command.addHelpText(
    'after',
    example(`gatehouse connect ${name} --url https://gateway.example.com --gate coding`),
  )
}

export function bindToken(program: Command, context: CliContext): void {
  program
    .command('token')
    .description('print the token that gatehouse connect saved')
    .addHelpText('after', example('curl -H "Authorization: Bearer $(gatehouse token)" …'))
    .action(async (_flags: object, command: Command) => {
      const token = await new ConnectedFiles(configFolderOf(context.environment)).readToken()
      if (token === undefined)
        throw new CliError('notFound', 'No token is saved here: run gatehouse connect first.')
      if (asJson(command)) return printJson({ token })
      printLine(token)
    })
}

interface Work {
  readonly context: CliContext
  readonly files: ConnectedFiles
  readonly name: string
  readonly client: ConnectedClient
  readonly file: string
}

async function connectClient(work: Work, flags: ConnectFlags, isJson: boolean): Promise<void> {
  const { context, files, name, client, file } = work
  const { now, before } = await files.read(name, file)
  const { base, token } = await readAccess(context, flags)
  await withToken(context, base, token, async (asked) => {
    const connection = await choose(asked, flags, base, files)
    const after = client.write(before, connection, file)
    const changes = diffLines(now, after)
    for (const line of [file, ...changes]) printNote(line)
    if (changes.length > 0) await confirmWrite(`Write ${file}?`, flags)
    await saveToken(files, token)
    await files.write(name, file, { before, after })
    await tryGate(asked, client.testCall(connection.gate), client.title)
    if (isJson) return printJson({ client: name, file, gate: connection.gate, works: true })
    printLine(
      `${client.title} works with the gate '${connection.gate}': start ${client.start}. ` +
        `Undo: gatehouse connect ${name} --undo`,
    )
  })
}

async function connectEnvironment(
  context: CliContext,
  files: ConnectedFiles,
  flags: ConnectFlags,
  isJson: boolean,
): Promise<void> {
  const { base, token } = await readAccess(context, flags)
  await withToken(context, base, token, async (asked) => {
    const connection = await choose(asked, flags, base, files)
    await saveToken(files, token)
    await tryGate(asked, chatCall(connection.gate), 'The call')
    if (isJson) return printJson({ client: 'env', tokenFile: files.tokenFile, works: true })
    printLine(`export OPENAI_BASE_URL='${base}/v1' ANTHROPIC_BASE_URL='${base}'`)
    printLine(
      `export OPENAI_API_KEY="$(${printToken(files)})" ANTHROPIC_AUTH_TOKEN="$(${printToken(files)})"`,
    )
    printNote(`The gate '${connection.gate}' works: name it as the model.`)
  })
}

async function undo(
  files: ConnectedFiles,
  name: string,
  file: string,
  flags: ConnectFlags,
): Promise<void> {
  if (!(await files.isConnected(file)))
    throw new CliError('notFound', `There is no backup ${backupOf(file)}: nothing to undo.`)
  const { now, before } = await files.read(name, file)
  for (const line of [file, ...diffLines(now, before)]) printNote(line)
  await confirmWrite(`Restore ${file}?`, flags)
  await files.restore(name, file, before)
  const isRemoved = await files.removeUnusedToken()
  printLine(`Restored ${file}.${isRemoved ? ' The saved token was removed.' : ''}`)
}

async function readAccess(
  { environment, folder }: CliContext,
  { url, tokenFile }: ConnectFlags,
): Promise<{ base: string; token: string }> {
  const address = url ?? environment.GATEHOUSE_URL
  if (!address)
    throw new CliError('usage', 'Give the address of the gateway: --url, or GATEHOUSE_URL.')
  const gateway = parseGatewayAddress(address)
  if (gateway === undefined)
    throw new CliError('usage', `The address must be ${GATEWAY_ADDRESS_FORM}.`)
  const token =
    tokenFile === undefined
      ? environment.GATEHOUSE_TOKEN || (await readSecret('Access token'))
      : (await readFile(resolve(folder, tokenFile), 'utf8')).trim()
  const objection = token === '' ? 'is empty' : describeUnusableKey(token)
  if (objection !== undefined) throw new CliError('unauthorized', `The token ${objection}.`)
  return { base: gateway.base, token }
}

async function withToken(
  context: CliContext,
  base: string,
  token: string,
  use: (client: Client) => Promise<void>,
): Promise<void> {
  const environment = { ...context.environment, GATEHOUSE_URL: base, GATEHOUSE_API_KEY: token }
  await withClient({ ...context, environment }, use)
}

async function choose(
  client: Client,
  { gate, smallGate }: ConnectFlags,
  base: string,
  { tokenFile }: ConnectedFiles,
): Promise<Connection> {
  const listed = await client.call('GET /v1/models', 'data').catch((error: unknown) => {
    if (error instanceof CliError && error.failure === 'unauthorized')
      throw new CliError(
        'unauthorized',
        `The gateway at ${base} refuses this token: ${error.message} Nothing was written.`,
        error.code,
      )
    throw error
  })
  const gates = listed.data.map(({ id }) => id)
  for (const named of [gate, smallGate])
    if (named !== undefined && !gates.includes(named))
      throw new CliError(
        'notFound',
        `The token cannot call a gate '${named}'. It can call: ${gates.join(', ') || 'none'}.`,
      )
  const chosen = gate ?? (gates.length === 1 ? gates[0] : undefined)
  if (chosen === undefined)
    throw new CliError(
      'usage',
      gates.length === 0
        ? 'The token cannot call any gate.'
        : `Choose a gate with --gate: ${gates.join(', ')}.`,
    )
  return { base, gate: chosen, smallGate: smallGate ?? chosen, tokenFile }
}

async function confirmWrite(question: string, { yes }: ConnectFlags): Promise<void> {
  if (yes) return
  if (!canAsk()) throw new CliError('usage', 'Nothing was written: add --yes to write it.')
  const answer = await terminal().askYes(question)
  if (answer === undefined) throw new CliError('interrupted', 'Cancelled.')
  if (!answer) throw new CliError('failed', 'Nothing was written.')
}

async function saveToken(files: ConnectedFiles, token: string): Promise<void> {
  const saved = await files.readToken()
  if (saved !== undefined && saved !== token)
    printNote(`The token in ${files.tokenFile} was replaced, for all clients that were connected.`)
  await files.writeToken(token)
}

async function tryGate(
  client: Client,
  { operation, member, body }: ReturnType<ConnectedClient['testCall']>,
  title: string,
): Promise<void> {
  await client.callNamed(operation, member, { body }).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      error.failure,
      `${title} is configured, but a test call failed: ${error.message}`,
      error.code,
    )
  })
}
