/**
 * Everything that a page was told: addresses and bodies of answers, to look for what must not be
 * among them.
 */
import type { Page } from 'playwright-core'

export interface SeenTexts {
  /** Waits for the bodies that are still coming. */
  readonly all: () => Promise<string>
}

export function collectSeenTexts(page: Page): SeenTexts {
  const texts: Promise<string>[] = []
  page.on('response', (response) => {
    texts.push(
      response
        .text()
        // Answers without a body, and those whose page has gone.
        .catch(() => '')
        .then((text) => `${response.url()}\n${text}`),
    )
  })
  return { all: async () => (await Promise.all(texts)).join('\n') }
}
