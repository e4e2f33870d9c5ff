export function diffLines(before: string, after: string): readonly string[] {
  const from = linesOf(before)
  const to = linesOf(after)
  const common = longestCommon(from, to)
  const changes: string[] = []
  let left = 0
  let right = 0
  for (const [commonLeft, commonRight] of [...common, [from.length, to.length] as const]) {
    changes.push(...from.slice(left, commonLeft).map((line) => `- ${maskSecrets(line)}`))
    changes.push(...to.slice(right, commonRight).map((line) => `+ ${maskSecrets(line)}`))
    left = commonLeft + 1
    right = commonRight + 1
  }
  return changes
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function longestCommon(
  from: readonly string[],
  to: readonly string[],
): readonly (readonly [left: number, right: number])[] {
  const width = to.length + 1
  const lengths = new Uint32Array((from.length + 1) * width)
  const at = (left: number, right: number) => lengths[left * width + right] ?? 0
  for (let left = from.length - 1; left >= 0; left--)
    for (let right = to.length - 1; right >= 0; right--)
      lengths[left * width + right] =
        from[left] === to[right]
          ? at(left + 1, right + 1) + 1
          : Math.max(at(left + 1, right), at(left, right + 1))
  const pairs: [number, number][] = []
  let left = 0
  let right = 0
  while (left < from.length && right < to.length) {
    if (from[left] === to[right]) pairs.push([left++, right++])
    else if (at(left + 1, right) >= at(left, right + 1)) left++
    else right++
  }
  return pairs
}

const SECRET_NAME = /(?:key|token|secret|password)"?\s*[:=]/i
const VALUE = /([:=]\s*)"[^"]*"/

function maskSecrets(line: string): string {
  return SECRET_NAME.test(line) && !line.includes('{file:') ? line.replace(VALUE, '$1"…"') : line
}
