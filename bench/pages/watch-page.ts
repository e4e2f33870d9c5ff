/**
 * Runs in the page, before anything of it: when was it last busy? It must not know any page, only
 * that what waits is drawn with `animate-pulse` or told as `Loading`.
 */

/** Nothing waits and nothing is asked for so long: the page is there. */
const RESTS_MS = 350

/** As text, because it runs in the browser. */
export const WATCH_PAGE = `(() => {
  const asked = []
  let open = 0
  let lastBusyMs = 0
  const ask = window.fetch
  window.fetch = async (...given) => {
    const url = new URL(given[0] instanceof Request ? given[0].url : String(given[0]), location.href)
    if (!url.pathname.startsWith('/v1/')) return ask(...given)
    const one = { path: url.pathname + url.search, fromMs: performance.now(), toMs: Number.NaN }
    asked.push(one)
    open += 1
    try {
      const answer = await ask(...given)
      await answer.clone().arrayBuffer()
      return answer
    } finally {
      open -= 1
      one.toMs = performance.now()
    }
  }
  const WAITS = '.animate-pulse, [role=status][aria-label=Loading], #root:not(:has(h1)), [aria-busy=true]'
  const isBusy = () => open > 0 || document.querySelector(WAITS) !== null || document.querySelector('h1') === null
  const look = () => {
    if (isBusy()) lastBusyMs = performance.now()
    requestAnimationFrame(look)
  }
  look()
  window.pageIsThere = () => performance.now() - lastBusyMs > ${RESTS_MS} && lastBusyMs > 0
  window.readPage = () => ({ readyMs: lastBusyMs, asked, nodes: document.querySelectorAll('*').length })
})()`

export interface Watched {
  /** From the navigation until the last data had come and was drawn. */
  readonly readyMs: number
  readonly asked: readonly {
    readonly path: string
    readonly fromMs: number
    readonly toMs: number
  }[]
  readonly nodes: number
}
