/**
 * A sentence with a name in “…”. The name keeps to itself: one that runs from right to left moves no
 * word beside it.
 */
export function Sentence({ text }: { readonly text: string }) {
  const [, before, name, after] = /^([^“]*“)(.*)(”.*)$/s.exec(text) ?? []
  if (name === undefined) return text
  return (
    <>
      {before}
      <bdi>{name}</bdi>
      {after}
    </>
  )
}
