/**
 * The typed token stands in lines for a shell, so no other text is accepted. The forms are those of
 * `src/core/access-token.ts` and `src/core/api-key.ts`.
 */
const ACCESS_TOKEN = /^at-svc-[0-9a-f]{64}$/
const API_KEY = /^(?:sk-svc-[0-9a-f]{64}|(?:svc_|legacy_)[\w.-]+)$/i

export interface TypedToken {
  /** Undefined: nothing usable was typed. */
  readonly token: string | undefined
  readonly problem: string | undefined
  readonly isKey: boolean
}

export function readToken(typed: string): TypedToken {
  const text = typed.trim()
  const isKey = API_KEY.test(text)
  if (isKey || ACCESS_TOKEN.test(text)) return { token: text, problem: undefined, isKey }
  return {
    token: undefined,
    problem: text === '' ? undefined : 'A token is at-svc- and 64 hexadecimal characters.',
    isKey,
  }
}
