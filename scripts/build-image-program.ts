/**
 * Builds the image's program without a container engine: runs the Dockerfile's build steps in an
 * empty folder, with only the files that the Dockerfile copies.
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
const MADE = 'dist/gatehouse'
/** Packages that the program reads by path, so a link to another folder would not work. */
const READ_BY_PATH = ['swagger-ui-dist']
const TIME_LIMIT_MS = 10 * 60_000

/**
 * @param path of the program
 * @throws Error with the output of a failed step
 */
export async function buildImageProgram(path: string): Promise<void> {
  const steps = readDockerfile(readFileSync(join(HOUSE, 'Dockerfile'), 'utf8'))
  // Outside of the repository, where a missing file would be found in a parent folder.
  const house = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  try {
    for (const step of steps.filter(({ stage }) => stage === 0)) await runStep(step, house)
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(join(house, MADE), `${path}.new`)
    renameSync(`${path}.new`, path)
  } finally {
    rmSync(house, { recursive: true, force: true })
  }
}

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
