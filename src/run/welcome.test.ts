/** The lines for the command line that a first start prints. */
import { expect, test } from 'bun:test'
import { Secret } from '../core/secret.ts'
import { folderToAdd, welcome } from './welcome.ts'

const URL_OF_GATEWAY = 'http://127.0.0.1:4000'
const firstKey = new Secret('sk-svc-1')

test.each([
  ['/srv/gatehouse/bin', '  export PATH=/srv/gatehouse/bin:$PATH'],
  ["/srv/it's here/bin", "  export PATH='/srv/it'\\''s here/bin':$PATH"],
])('the folder %s of the command is printed so that a shell can read it', (commandFolder, line) => {
  const text = welcome(URL_OF_GATEWAY, { firstKey, withSandbox: true, commandFolder })
  expect(text.split('\n')).toContain(line)
})

test('no line sets PATH where the command is found already', () => {
  const folder = folderToAdd('/usr/bin') ?? ''
  expect(folder).toEndWith('/bin')
  expect(folderToAdd(`/usr/bin:${folder}`)).toBeUndefined()
  const text = welcome(URL_OF_GATEWAY, { firstKey, withSandbox: true, commandFolder: undefined })
  expect(text).not.toContain('PATH')
})
