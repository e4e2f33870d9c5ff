/** Closed lists of chat that several dialects share, in the gateway's own terms. */

/** A tool choice that names no tool. */
export const TOOL_CHOICES = ['auto', 'none', 'required'] as const
export type UnnamedToolChoice = (typeof TOOL_CHOICES)[number]

/** `content_filter` includes a provider's refusal to answer. */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter'] as const

/** Image types that vision models take. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** Members of a function tool. */
export const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'] as const

/** Members of a Messages request that ask the provider to keep or run something. */
export const HOSTED_MEMBERS = ['thread', 'container', 'mcp_servers'] as const
