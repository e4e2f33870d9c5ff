/** Reads the instructions of a Dockerfile without heredocs and escape directives. */

export interface Instruction {
  readonly stage: number
  readonly name: string
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
  /** The stage or image named by `--from`; undefined for the build context. */
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

export function readEnvironment(instructions: readonly Instruction[]): Record<string, string> {
  const pairs = instructions
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ value }) => value.split(/\s+/).map((pair) => pair.split('=')))
  return Object.fromEntries(pairs.map(([name = '', ...rest]) => [name, rest.join('=')]))
}
