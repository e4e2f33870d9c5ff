/**
 * Providers from the environment: composed addresses, shared keys, and keys that are documents.
 */
import { describe, expect, test } from 'bun:test'
import { catalog } from '../providers/catalog.ts'
import { readProviderSettings } from './provider-settings.ts'

const read = (environment: Record<string, string>) => readProviderSettings(environment, catalog)
const PATH = 'v1/projects/acme-1/locations'

describe('the address of Vertex AI', () => {
  test.each([
    [undefined, `https://aiplatform.googleapis.com/${PATH}/global/publishers/google`],
    ['global', `https://aiplatform.googleapis.com/${PATH}/global/publishers/google`],
    ['eu', `https://aiplatform.eu.rep.googleapis.com/${PATH}/eu/publishers/google`],
    [
      'europe-west4',
      `https://europe-west4-aiplatform.googleapis.com/${PATH}/europe-west4/publishers/google`,
    ],
  ])('in %s', (location, address) => {
    const { providerBaseUrls } = read({
      VERTEX_PROJECT: 'acme-1',
      ...(location === undefined ? {} : { VERTEX_LOCATION: location }),
    })
    expect(providerBaseUrls.get('vertex')).toBe(address)
    expect(providerBaseUrls.get('vertex-anthropic')).toBe(address.replace('/google', '/anthropic'))
  })

  test('is the given one if a full address is set', () => {
    const { providerBaseUrls } = read({
      VERTEX_PROJECT: 'acme-1',
      VERTEX_BASE_URL: 'http://127.0.0.1:9/v/',
    })
    expect(providerBaseUrls.get('vertex')).toBe('http://127.0.0.1:9/v')
  })

  test('is missing without a project', () => {
    expect(read({ VERTEX_LOCATION: 'eu' }).providerBaseUrls.has('vertex')).toBe(false)
  })

  test.each([
    ['VERTEX_PROJECT', 'acme/../../x'],
    ['VERTEX_PROJECT', 'a..b'],
    ['VERTEX_LOCATION', 'evil.example/'],
    ['VERTEX_LOCATION', 'evil.example#'],
    ['VERTEX_LOCATION', 'a@b'],
  ])('is not composed from %s=%s', (name, value) => {
    expect(() => read({ VERTEX_PROJECT: 'acme-1', [name]: value })).toThrow(name)
  })
})

test('a service account may span several lines, and opens every provider of its vendor', () => {
  const { providerKeys } = read({ VERTEX_API_KEY: ' {\n  "type": "service_account"\n}\n' })
  expect(providerKeys.get('vertex')?.reveal()).toBe('{\n  "type": "service_account"\n}')
  expect(providerKeys.get('vertex-anthropic')?.reveal()).toStartWith('{')
})

test('a key of several lines is refused for a provider without service accounts', () => {
  expect(() => read({ OPENAI_API_KEY: '{\n}' })).toThrow('OPENAI_API_KEY')
  expect(() => read({ VERTEX_API_KEY: 'two\nlines' })).toThrow('VERTEX_API_KEY')
})

test('Azure has no address except the one that is set', () => {
  expect(read({}).providerBaseUrls.has('azure-openai')).toBe(false)
  const address = 'https://acme.openai.azure.com/openai/v1/'
  expect(read({ AZURE_OPENAI_BASE_URL: address }).providerBaseUrls.get('azure-openai')).toBe(
    'https://acme.openai.azure.com/openai/v1',
  )
})
