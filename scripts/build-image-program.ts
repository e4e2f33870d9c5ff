/**
 * Makes the program of the image without a container engine: the Dockerfile's build steps, in an
 * empty folder, with nothing but what it copies. Knows nothing of who starts the program.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Instruction, readCopy, readDockerfile } from './dockerfile.ts'
import { runCommand } from './run-command.ts'

const HOUSE = join(import.meta.dir, '..')
const INSTALL = 'scripts/install.sh'
/** Where the steps leave it, which the image copies. */
const MADE = 'dist/gatehouse'
/** The program holds files of these under the paths where they lie, and a link leads elsewhere. */
const READ_BY_PATH = ['swagger-ui-dist']
const TIME_LIMIT_MS = 10 * 60_000

/**
 * @param path of the program
 * @throws with what a step printed, where it fails
 */
export async function buildImageProgram(path: string): Promise<void> {
  const steps = readDockerfile(readFileSync(join(HOUSE, 'Dockerfile'), 'utf8'))
  // Outside of the repository: inside, a file that no step copies would be found further up.
  const house = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  try {
    for (const step of steps.filter(({ stage }) => stage === 0)) await runStep(step, house)
    mkdirSync(dirname(path), { recursive: true })
    // Another run may have the one before open.
    copyFileSync(join(house, MADE), `${path}.new`)
    renameSync(`${path}.new`, path)
  } finally {
    rmSync(house, { recursive: true, force: true })
  }
}

/** `npm ci` aside, which needs the network: the packages are those of this repository. */
async function runStep({ name, value }: Instruction, house: string): Promise<void> {
  if (name === 'COPY') {
    const { sources, target } = readCopy(value)
    for (const source of sources) {
      const to = target.endsWith('/') ? join(house, target, source) : join(house, target)
      cpSync(join(HOUSE, source), to, {
        recursive: true,
        filter: (path) => !/\.test\.tsx?$/.test(path),
      })
    }
    return
  }
  if (name !== 'RUN') return
  if (value === INSTALL) {
    if (!existsSync(join(house, INSTALL))) throw new Error(`the image has no ${INSTALL} to run`)
    placePackages(join(house, 'node_modules'))
    return
  }
  const { exitCode, output } = await runCommand(['sh', '-c', value], {
    timeLimitMs: TIME_LIMIT_MS,
    capture: true,
    folder: house,
  })
  if (exitCode !== 0) throw new Error(`${value}\n${output}`)
}

function placePackages(folder: string): void {
  mkdirSync(folder)
  for (const name of readdirSync(join(HOUSE, 'node_modules'))) {
    const [from, to] = [join(HOUSE, 'node_modules', name), join(folder, name)]
    if (READ_BY_PATH.includes(name)) cpSync(from, to, { recursive: true })
    else symlinkSync(from, to)
  }
}
