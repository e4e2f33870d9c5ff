/**
 * Reads the instructions of a Dockerfile, as far as ours goes: no heredocs, no escape directive.
 * Runs none of them.
 */

export interface Instruction {
  /** Counted from 0. */
  readonly stage: number
  /** In capitals: `COPY`. */
  readonly name: string
  /** On one line. */
  readonly value: string
}

export function readDockerfile(text: string): Instruction[] {
  const joined = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
  let stage = -1
  return joined.split('\n').flatMap((line) => {
    const [, name = '', value = ''] = /^([A-Za-z]+)\s+(.*)$/.exec(line) ?? []
    if (name === '') return []
    if (name.toUpperCase() === 'FROM') stage += 1
    return [{ stage, name: name.toUpperCase(), value: value.trim() }]
  })
}

export interface Copied {
  /** The stage or image named by `--from`; undefined: the build context. */
  readonly from: string | undefined
  readonly sources: readonly string[]
  readonly target: string
}

export function readCopy(value: string): Copied {
  const words = value.split(/\s+/)
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' }
}

/** Values of `ENV name=value …`. */
export function readEnvironment(instructions: readonly Instruction[]): Record<string, string> {
  const pairs = instructions
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ value }) => value.split(/\s+/).map((pair) => pair.split('=')))
  return Object.fromEntries(pairs.map(([name = '', ...rest]) => [name, rest.join('=')]))
}
