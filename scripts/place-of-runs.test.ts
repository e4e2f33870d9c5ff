import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { type Place, placeOfRuns } from './place-of-runs.ts'

const GIB = 2 ** 30
const ROOMY: Place = {
  environment: {},
  mounts: 'proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n',
  freeBytes: 12 * GIB,
  availableBytes: 20 * GIB,
}

test('in memory, where there is room', () => {
  expect(placeOfRuns(ROOMY)).toBe('/dev/shm')
})

test('in the temporary folder that somebody has named', () => {
  expect(placeOfRuns({ ...ROOMY, environment: { TMPDIR: '/somewhere' } })).toBe(tmpdir())
})

test.each<[string, Partial<Place>]>([
  ['there is no such file system', { mounts: 'proc /proc proc rw 0 0\n' }],
  ['it is none in memory', { mounts: '/dev/sda1 /dev/shm ext4 rw 0 0\n' }],
  [
    'nothing in it may be run',
    { mounts: 'shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime 0 0\n' },
  ],
  ['it cannot be written', { mounts: 'tmpfs /dev/shm tmpfs ro 0 0\n' }],
  ['it is small', { freeBytes: 64 * 2 ** 20 }],
  ['the machine has little memory left', { availableBytes: 3 * GIB }],
  ['nothing is known of the memory', { availableBytes: 0 }],
])('in the temporary folder, where %s', (_, differs) => {
  expect(placeOfRuns({ ...ROOMY, ...differs })).toBe(tmpdir())
})
