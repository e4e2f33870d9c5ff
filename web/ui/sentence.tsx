/**
 * A sentence with a name in “…”. The name is isolated, so that right-to-left text does not move
 * other words.
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
