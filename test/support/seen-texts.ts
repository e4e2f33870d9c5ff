import type { Page } from 'playwright-core'

export interface SeenTexts {
  readonly all: () => Promise<string>
}

export function collectSeenTexts(page: Page): SeenTexts {
  const texts: Promise<string>[] = []
  page.on('response', (response) => {
    texts.push(
      response
        .text()
        .catch(() => '')
        .then((text) => `${response.url()}\n${text}`),
    )
  })
  return { all: async () => (await Promise.all(texts)).join('\n') }
}
