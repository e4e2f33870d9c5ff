interface Targeted {
  readonly targets: readonly { readonly model: string }[]
}

export function gatesWithTarget<Gate extends Targeted>(
  gates: readonly Gate[],
  target: string,
): Gate[] {
  return gates.filter(({ targets }) => targets.some(({ model }) => model === target))
}

export function gatesOfProvider<Gate extends Targeted>(
  gates: readonly Gate[],
  provider: string,
): Gate[] {
  return gates.filter(({ targets }) =>
    targets.some(({ model }) => model.startsWith(`${provider}/`)),
  )
}
