/**
 * Malformed requests to the data plane. Every row must be refused in the endpoint's own envelope.
 */
import type { Envelope } from './envelopes.ts'
import { IMPOSSIBLE_NAMES, type MalformedRequest, UNUSABLE_BODIES } from './malformed-request.ts'
import { ALT_CHAT, CHAT, CHAT_V3, FIM, MESSAGES, RESPONSES } from './raw-scene.ts'

interface Endpoint {
  readonly path: string
  readonly envelope: Envelope
  readonly good: Readonly<Record<string, unknown>>
  readonly gate?: string
}

const messages = [{ role: 'user', content: 'hi' }]

const ENDPOINTS: readonly Endpoint[] = [
  { path: RESPONSES, envelope: 'nested', good: { model: 'demo', input: 'hi' } },
  { path: CHAT, envelope: 'nested', good: { model: 'demo', messages } },
  { path: FIM, envelope: 'flat', good: { model: 'demo', prompt: 'x' } },
  { path: ALT_CHAT, envelope: 'flat', good: { model: 'demo', messages } },
  { path: MESSAGES, envelope: 'messages', good: { model: 'demo', max_tokens: 9, messages } },
  { path: CHAT_V3, envelope: 'flat', good: { gate_id: 'demo', messages }, gate: 'gate_id' },
]

/** Field and value: 400 that names the field. `undefined` omits the field. */
const BAD_FIELDS: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  [RESPONSES]: [
    ['model', undefined],
    ['model', null],
    ['model', ''],
    ['model', 1],
    ['model', ['demo']],
    ['model', { id: 'demo' }],
    ['input', 1],
    ['input', true],
    ['input', { role: 'user' }],
    ['stream', 'true'],
    ['stream', 1],
    ['store', true],
    ['store', 'false'],
    ['store', 0],
    ['previous_response_id', 'resp_1'],
    ['previous_response_id', 1],
    ['conversation', 'conv_1'],
    ['background', true],
    ['background', 'yes'],
    ['prompt', { id: 'pmpt_1' }],
    ['include', 'reasoning.encrypted_content'],
    ['include', {}],
    ['input', [{ type: 'item_reference', id: 'rs_1' }]],
  ],
  [CHAT]: [
    ['model', undefined],
    ['model', null],
    ['model', ''],
    ['model', 1],
    ['model', { id: 'demo' }],
    ['gate_id', 1],
    ['gate_id', ''],
    ['gate_id', ['demo']],
    ['messages', undefined],
    ['messages', null],
    ['messages', 'hi'],
    ['messages', { role: 'user' }],
    ['stream', 'true'],
    ['stream', 1],
    ['stream_options', 'include_usage'],
    ['stream_options', []],
  ],
  [FIM]: [
    ['model', undefined],
    ['model', null],
    ['model', ''],
    ['model', 1],
    ['gate_id', 1],
    ['prompt', undefined],
    ['prompt', null],
    ['prompt', 1],
    ['prompt', ['x']],
    ['suffix', 1],
    ['suffix', ['x']],
    ['stream', 'true'],
    ['stream', 1],
    ['min_tokens', 'many'],
    ['min_tokens', [1]],
    ['max_tokens', 'many'],
    ['temperature', 'hot'],
  ],
  [ALT_CHAT]: [
    ['model', undefined],
    ['model', null],
    ['model', 1],
    ['gate_id', 1],
    ['messages', undefined],
    ['messages', null],
    ['messages', 'hi'],
    ['messages', 1],
    ['stream', 'true'],
    ['stream', {}],
  ],
  [MESSAGES]: [
    ['model', undefined],
    ['model', null],
    ['model', 1],
    ['gate_id', 1],
    ['gate_id', ''],
    ['max_tokens', undefined],
    ['max_tokens', null],
    ['max_tokens', 'many'],
    ['messages', undefined],
    ['messages', null],
    ['messages', 'hi'],
    ['messages', { role: 'user' }],
    ['system', 1],
    ['tools', {}],
    ['tool_choice', 'any'],
    ['stream', 'true'],
    ['stream', 1],
  ],
  [CHAT_V3]: [
    ['gate_id', undefined],
    ['gate_id', null],
    ['gate_id', ''],
    ['gate_id', 1],
    ['gateId', 'demo'],
    ['model', 'demo'],
    ['max_tokens', 1],
    ['messages', undefined],
    ['messages', 'hi'],
    ['messages', [1]],
    ['messages', [{ role: 'robot', content: 'hi' }]],
    ['messages', [{ role: 'user', content: 'hi', name: 'ann' }]],
    ['messages', [{ role: 'user', content: [{ type: 'audio' }] }]],
    ['data', { messages }],
    ['vars', 'name'],
    ['vars', { name: {} }],
    ['instructions', 1],
    ['instructions', '{{name}}'],
    ['tools', [{ type: 'function', name: 'f' }]],
    ['tool_choice', 'any'],
    ['response_format', { type: 'json_object' }],
    ['temperature', 'hot'],
    ['max_output_tokens', '1'],
    ['stop', 1],
    ['reasoning', 'high'],
    ['reasoning', { budget: 1 }],
    ['stream', 'true'],
    ['metadata', []],
  ],
}

const BAD_HEADERS: readonly (readonly [
  string,
  Readonly<Record<string, string>>,
  number,
  string?,
])[] = [
  ['content-type text/plain', { 'content-type': 'text/plain' }, 400, 'content-type'],
  [
    'a form content type',
    { 'content-type': 'application/x-www-form-urlencoded' },
    400,
    'content-type',
  ],
  [
    'a multipart content type',
    { 'content-type': 'multipart/form-data; boundary=x' },
    400,
    'content-type',
  ],
  [
    'charset latin1',
    { 'content-type': 'application/json; charset=iso-8859-1' },
    400,
    'content-type',
  ],
  ['charset UTF-16', { 'content-type': 'application/json; charset=utf-16' }, 400, 'content-type'],
  ['a content type that is none', { 'content-type': ';;;' }, 400, 'content-type'],
  ['content-encoding gzip', { 'content-encoding': 'gzip' }, 400, 'content-encoding'],
  ['content-encoding br', { 'content-encoding': 'br' }, 400, 'content-encoding'],
  ['an unknown content-encoding', { 'content-encoding': 'rot13' }, 400, 'content-encoding'],
  ['no key', { authorization: '' }, 401],
  ['an empty Bearer', { authorization: 'Bearer' }, 401],
  ['another scheme', { authorization: 'Basic Z2F0ZTpob3VzZQ==' }, 401],
  ['a key without a scheme', { authorization: `sk-svc-${'a'.repeat(64)}` }, 401],
  ['a key nobody made', { authorization: `Bearer sk-svc-${'a'.repeat(64)}` }, 401],
  ['a key with a quote', { authorization: "Bearer sk-svc-' OR '1'='1" }, 401],
  ['a very long key', { authorization: `Bearer svc_${'a'.repeat(7000)}` }, 401],
  ['two keys', { authorization: `Bearer svc_0123456789 svc_0123456789` }, 401],
  ['a key with bytes beyond ASCII', { authorization: 'Bearer svc_caf\u00e9\u00ff0123456789' }, 401],
]

function withField(good: Readonly<Record<string, unknown>>, field: string, value: unknown): string {
  return JSON.stringify({ ...good, [field]: value })
}

export const MALFORMED_CALLS: readonly MalformedRequest[] = ENDPOINTS.flatMap(
  ({ path, envelope, good, gate: member = 'model' }) => [
    ...UNUSABLE_BODIES.map(([name, body]) => ({ name, path, envelope, body, status: 400 })),
    ...(BAD_FIELDS[path] ?? []).map(([field, value]) => ({
      name: `${field}: ${JSON.stringify(value)}`,
      path,
      envelope,
      body: withField(good, field, value),
      status: 400,
      contains: field,
    })),
    ...IMPOSSIBLE_NAMES.map((gate) => ({
      name: `the gate ${JSON.stringify(gate.slice(0, 30))}`,
      path,
      envelope,
      body: withField(good, member, gate),
      status: 404,
    })),
    ...BAD_HEADERS.map(([name, headers, status, contains]) => ({
      name,
      path,
      envelope,
      headers,
      body: JSON.stringify(good),
      status,
      ...(contains === undefined ? {} : { contains }),
    })),
    ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => ({
      name: `method ${method}`,
      method,
      path,
      envelope,
      status: 405,
    })),
    { name: 'method HEAD', method: 'HEAD', path, envelope: 'none' as const, status: 405 },
    {
      name: 'a member named __proto__ and nothing else',
      path,
      envelope,
      body: '{"__proto__":{"model":"demo","stream":true}}',
      status: 400,
    },
  ],
)
