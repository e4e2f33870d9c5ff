/** Lists the forms of fill-in-the-middle that calls can be translated to. Knows no provider. */
import type { DialectId } from '../dialect.ts'
import { completionsSuffixCodec, completionsTemplateCodec } from './completions-codec.ts'
import type { FimCodec } from './fim-codec.ts'
import { infillCodec } from './infill-codec.ts'

export const FIM_CODECS: Partial<Record<DialectId, FimCodec>> = {
  'completions-suffix': completionsSuffixCodec,
  'completions-template': completionsTemplateCodec,
  infill: infillCodec,
}

/** True where an endpoint of that dialect serves callers who want the middle filled in. */
export function fillsInTheMiddle(dialect: string): boolean {
  return dialect === 'mistral-fim' || Object.hasOwn(FIM_CODECS, dialect)
}
