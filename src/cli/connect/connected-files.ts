import { createHash } from 'node:crypto'
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ConnectedClient, OwnFile } from './connected-client.ts'

const ONLY_USER = 0o600
const ONLY_USER_FOLDER = 0o700
const TOKEN = 'token'
const RECORD = '.sha256'

export class ConnectedFiles {
  readonly tokenFile: string
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = join(folder, 'gatehouse')
    this.tokenFile = join(this.#folder, TOKEN)
  }

  async readToken(): Promise<string | undefined> {
    const text = (await readText(this.tokenFile))?.trim()
    return text === '' ? undefined : text
  }

  async writeToken(token: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: ONLY_USER_FOLDER })
    await replace(this.tokenFile, token, ONLY_USER)
  }

  /**
   * The file's text, and the text without the connection: the backup, or, if the file was edited
   * since, the file with the settings of the backup.
   * @throws CliError when these settings cannot be restored without a loss
   */
  async read(
    name: string,
    file: string,
    { restore }: Pick<ConnectedClient, 'restore'>,
  ): Promise<{ now: string; before: string }> {
    const now = (await readText(file)) ?? ''
    const backup = await readText(backupOf(file))
    if (backup === undefined) return { now, before: now }
    const isUnedited = (await readText(this.#recordOf(name))) === hashOf(now)
    return { now, before: isUnedited || now === '' ? backup : restore(now, backup, file) }
  }

  async write(client: string, file: string, texts: { before: string; after: string }) {
    const real = await realpath(file).catch(() => file)
    const mode = await modeOf(real)
    await mkdir(dirname(real), { recursive: true, mode: ONLY_USER_FOLDER })
    await mkdir(this.#folder, { recursive: true, mode: ONLY_USER_FOLDER })
    await replace(backupOf(file), texts.before, ONLY_USER)
    await replace(this.#recordOf(client), hashOf(texts.after), ONLY_USER)
    await replace(real, texts.after, mode)
  }

  /** Restores the earlier text. Removes a file that would be empty. */
  async restore(client: string, file: string, before: string): Promise<void> {
    const real = await realpath(file).catch(() => file)
    if (before === '') await rm(real, { force: true })
    else await replace(real, before, await modeOf(real))
    await rm(backupOf(file))
    await rm(this.#recordOf(client), { force: true })
  }

  async writeOwn({ file, text }: OwnFile): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: ONLY_USER_FOLDER })
    await replace(file, text, ONLY_USER)
  }

  async removeOwn(file: string): Promise<void> {
    await rm(file, { force: true })
  }

  async isConnected(file: string): Promise<boolean> {
    return (await readText(backupOf(file))) !== undefined
  }

  /**
   * Removes the token when no connected client needs it.
   * @returns whether the token was removed
   */
  async removeUnusedToken(): Promise<boolean> {
    const left = await readdir(this.#folder).catch(() => [])
    if (left.some((name) => name.endsWith(RECORD))) return false
    await rm(this.tokenFile, { force: true })
    return true
  }

  #recordOf(client: string): string {
    return join(this.#folder, `${client}${RECORD}`)
  }
}

export function backupOf(file: string): string {
  return `${file}.before-gatehouse`
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}

/** Only the user can read a new file. */
async function modeOf(file: string): Promise<number> {
  return await stat(file).then(
    ({ mode }) => mode & 0o777,
    () => ONLY_USER,
  )
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  const next = `${file}.${process.pid}.tmp`
  await writeFile(next, text, { mode })
  await chmod(next, mode)
  await rename(next, file)
}
