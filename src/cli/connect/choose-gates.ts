import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  describeUnusableKey,
  GATEWAY_ADDRESS_FORM,
  type GatewayAddress,
  parseGatewayAddress,
} from '../../core/http.ts'
import { CliError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import type { CliContext } from '../context.ts'
import { canAsk, readSecret } from '../input.ts'
import { formatTime, printNote } from '../output.ts'
import { terminal } from '../terminal.ts'
import type { ConnectedClient } from './connected-client.ts'

export interface AccessFlags {
  readonly url?: string
  readonly tokenFile?: string
}

export interface Access {
  readonly gateway: GatewayAddress
  readonly token: string
}

/** @param saved the token that an earlier client was connected with */
export async function readAccess(
  { environment, folder }: CliContext,
  { url, tokenFile }: AccessFlags,
  saved: string | undefined,
): Promise<Access> {
  const address = url ?? environment.GATEHOUSE_URL
  if (!address)
    throw new CliError('usage', 'Give the address of the gateway: --url, or GATEHOUSE_URL.')
  const gateway = parseGatewayAddress(address)
  if (gateway === undefined)
    throw new CliError('usage', `The address must be ${GATEWAY_ADDRESS_FORM}.`)
  const token =
    tokenFile === undefined
      ? environment.GATEHOUSE_TOKEN || (await askToken(saved))
      : (await readFile(resolve(folder, tokenFile), 'utf8')).trim()
  const objection = token === '' ? 'is empty' : describeUnusableKey(token)
  if (objection !== undefined) throw new CliError('unauthorized', `The token ${objection}.`)
  return { gateway, token }
}

/** A saved token goes to another address only if the person agrees, by an empty answer. */
async function askToken(saved: string | undefined): Promise<string> {
  if (saved === undefined || !canAsk()) return await readSecret('Access token')
  return (await readSecret('Access token (Enter: the saved one)')) || saved
}

export interface GateFlags {
  readonly gate?: string
  readonly smallGate?: string
}

export interface ChosenGates {
  readonly gate: string
  readonly smallGate: string
}

export async function chooseGates(
  client: Client,
  flags: GateFlags,
  { hasSmallGate }: Pick<ConnectedClient, 'hasSmallGate'>,
): Promise<ChosenGates> {
  const { accessToken, expiresAt } = await client.call('GET /v1/session', 'account')
  const { data } = await client.call('GET /v1/models', 'data')
  const gates = data.map(({ id }) => id)
  if (gates.length === 0) throw noGate(accessToken)
  if (accessToken === null)
    printNote(
      'This is an API key, which has full access. An access token can only call gates: ' +
        'gatehouse tokens create NAME.',
    )
  if (expiresAt !== null) printNote(`The token expires at ${formatTime(expiresAt)}.`)
  for (const named of [flags.gate, flags.smallGate])
    if (named !== undefined && !gates.includes(named))
      throw new CliError(
        'notFound',
        `The token cannot call a gate '${named}'. It can call: ${gates.join(', ')}.`,
      )
  const gate = flags.gate ?? (await askGate(gates))
  if (flags.smallGate !== undefined) return { gate, smallGate: flags.smallGate }
  const isAsked = hasSmallGate && flags.gate === undefined && gates.length > 1 && canAsk()
  if (!isAsked) return { gate, smallGate: gate }
  const others = gates.filter((id) => id !== gate)
  return { gate, smallGate: await choose('Gate for small tasks', [gate, ...others]) }
}

async function askGate(gates: readonly string[]): Promise<string> {
  const [only, ...others] = gates
  if (only !== undefined && others.length === 0) return only
  if (!canAsk()) throw new CliError('usage', `Choose a gate with --gate: ${gates.join(', ')}.`)
  return await choose('Gate', gates)
}

async function choose(question: string, gates: readonly string[]): Promise<string> {
  const chosen = await terminal().askChoice(question, gates)
  if (chosen === undefined) throw new CliError('interrupted', 'Cancelled.')
  return chosen
}

function noGate(accessToken: { readonly gates: readonly string[] | null } | null): CliError {
  return new CliError(
    'notFound',
    accessToken?.gates == null
      ? 'The account has no gate: create one with gatehouse gates create.'
      : 'All gates of this token were deleted. Ask for a token with other gates: gatehouse tokens ' +
          'update ID --gate GATE.',
  )
}
