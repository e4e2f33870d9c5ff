/** A visible character. Names without a visible character look empty. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u

export function isVisible(text: string): boolean {
  return VISIBLE.test(text)
}
