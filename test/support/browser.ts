/** A browser's part in signing in: keeps cookies and sends what a page of the gateway would. */

export interface BrowserCall {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export class Browser {
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly cookies = new Map<string, string>()
  readonly received: string[] = []

  /** @param headers sent with every request, such as the address that a proxy adds */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#headers = headers
  }

  async send(
    path: string,
    { method = 'GET', body, headers = {} }: BrowserCall = {},
  ): Promise<Response> {
    const all = new Headers({
      origin: this.#url,
      'x-gatehouse-csrf': '1',
      'content-type': 'application/json',
      cookie: this.cookieHeader(),
      ...this.#headers,
      ...headers,
    })
    for (const [name, value] of [...all]) if (value === '') all.delete(name)
    const response = await fetch(path.startsWith('http') ? path : this.#url + path, {
      method,
      headers: all,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie)
    return response
  }

  /**
   * The answer's JSON.
   * @throws when the status differs
   */
  async json(
    path: string,
    status: number,
    call: BrowserCall = {},
  ): Promise<Record<string, unknown>> {
    const response = await this.send(path, call)
    const text = await response.text()
    if (response.status !== status)
      throw new Error(`wanted ${status}, got ${response.status}: ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(cookie: string): void {
    this.received.push(cookie)
    const [pair = ''] = cookie.split(';')
    const [name = '', value = ''] = [
      pair.slice(0, pair.indexOf('=')),
      pair.slice(pair.indexOf('=') + 1),
    ]
    if (value === '' || /;\s*max-age=0/i.test(cookie)) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}
