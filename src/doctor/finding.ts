import type { Finding } from '../core/finding.ts'

export function findingsOf(check: string) {
  return {
    ok: (message: string): Finding => ({ level: 'ok', check, message }),
    warn: (message: string, cure: string): Finding => ({ level: 'warn', check, message, cure }),
    fail: (message: string, cure: string): Finding => ({ level: 'fail', check, message, cure }),
  }
}

export function codeOf(thrown: unknown): string {
  const { code, name } = thrown as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name)
}

export function messageOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s+/g, ' ')
}

export async function guard<Found>(
  check: string,
  examine: () => Promise<Found> | Found,
): Promise<{ readonly found: Found } | { readonly broken: Finding }> {
  try {
    return { found: await examine() }
  } catch (error) {
    return {
      broken: findingsOf(check).fail(
        `it could not be examined (${messageOf(error)})`,
        'Run this as the user that serves, on its machine',
      ),
    }
  }
}
