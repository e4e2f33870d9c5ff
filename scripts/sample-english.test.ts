import { expect, test } from 'bun:test'
import { draw, findComments, findProse, findTexts } from './sample-english.ts'

const SOURCE = `/** Reads the file of a node. */
export function read(): void {}

// Two lines of a comment
// belong together.
const text = 'This text is a sentence.'
const name = 'not one'
const help = \`Prints\n  nothing to the terminal.\`
`

test('a comment comes with the code below it', () => {
  expect(findComments('a.ts', SOURCE)).toEqual([
    { place: 'a.ts:1', text: expect.stringContaining('node. */\nexport function read') as string },
    { place: 'a.ts:4', text: expect.stringContaining('together.\nconst text') as string },
  ])
})

test('texts that are no sentences are left out', () => {
  expect(findTexts('a.ts', SOURCE).map(({ text }) => text)).toEqual([
    'This text is a sentence.',
    'Prints\n  nothing to the terminal.',
  ])
})

test('a page gives the sentences of its paragraphs, not its code', () => {
  const page =
    '# Title of the page\n\nOne sentence stands here. Another one\nfollows it.\n\n```\nsome code that is not read\n```\n\n- A list has sentences too.\n'
  expect(findProse('a.md', page).map(({ text }) => text)).toEqual([
    'One sentence stands here.',
    'Another one follows it.',
    '- A list has sentences too.',
  ])
})

test('a sentence is not cut at the items of its list or at a paragraph', () => {
  const page = [
    'The command prints:\n\n- the name of the gate\n- its target\n  and its price\n',
    'A short paragraph ends here.\n\n| a table | that is not read |\n\nThe next one begins here.\n',
    'Run this command first:\n\n```sh\nmake run\n```\n\nAnother paragraph follows the code.\n',
    '- The first item stands alone.\n- So does the second item.\n',
  ].join('\n')
  expect(findProse('a.md', page)).toEqual([
    {
      place: 'a.md:1',
      text: 'The command prints: - the name of the gate - its target and its price',
    },
    { place: 'a.md:7', text: 'A short paragraph ends here.' },
    { place: 'a.md:11', text: 'The next one begins here.' },
    { place: 'a.md:13', text: 'Run this command first:' },
    { place: 'a.md:19', text: 'Another paragraph follows the code.' },
    { place: 'a.md:21', text: '- The first item stands alone.' },
    { place: 'a.md:22', text: '- So does the second item.' },
  ])
})

test('a seed always draws the same', () => {
  const all = Array.from({ length: 50 }, (_, index) => ({ place: `a:${index}`, text: 'x' }))
  expect(draw(all, 5, 'one')).toEqual(draw(all.toReversed(), 5, 'one'))
  expect(draw(all, 5, 'one')).not.toEqual(draw(all, 5, 'two'))
})
