interface Targeted {
  readonly targets: readonly { readonly model: string }[]
}

/** Gates with the target `provider/model`. */
export function gatesWithTarget<Gate extends Targeted>(
  gates: readonly Gate[],
  target: string,
): Gate[] {
  return gates.filter(({ targets }) => targets.some(({ model }) => model === target))
}

/** Gates with any target of the provider, which is the part before the first slash. */
export function gatesOfProvider<Gate extends Targeted>(
  gates: readonly Gate[],
  provider: string,
): Gate[] {
  return gates.filter(({ targets }) =>
    targets.some(({ model }) => model.startsWith(`${provider}/`)),
  )
}
