import { z } from 'zod'
import { INVITATION_STATUSES, SIGN_UP_POLICIES } from '../core/user.ts'
import { listOf } from './lists.ts'
import type { ResourceDescription } from './resource-description.ts'
import { stopState } from './stops.ts'
import { label } from './text.ts'

const time = z.iso.datetime()
const id = z.string()
const name = label({ min: 1, max: 120 })
const role = z.enum(['owner', 'member']).meta({
  description:
    'Owners and members have full access to the account; only the owner can remove members and transfer the account.',
})
const email = z
  .email({ error: 'must be an email address' })
  .max(254)
  .meta({ description: 'Case is ignored.', example: 'jane@example.com' })
const password = z
  .string()
  .max(1000)
  .meta({
    description:
      '12 to 128 characters, at least 5 of them different, without the email address, no row of ' +
      'neighbouring characters.',
    writeOnly: true,
  })

const invitationToken = z.string().min(1).max(200)

export const invitationOfferRequest = z
  .strictObject({
    invitation: invitationToken.meta({
      description: 'The token of the invitation.',
      writeOnly: true,
    }),
  })
  .meta({ id: 'AskForInvitationOffer' })

export const invitationOfferBody = z
  .object({
    accountName: z.string().meta({ description: 'The account that the invitation is for.' }),
    invitedBy: z.string().nullable().meta({
      description: 'The user who sent the invitation; null: the operator, or a deleted key.',
    }),
    email: z.string().meta({ description: 'The email address of the invitation.' }),
    expiresAt: time,
  })
  .meta({ id: 'InvitationOffer' })

export const signUpBody = z
  .strictObject({
    email,
    name,
    password,
    invitation: z.string().max(200).optional().meta({
      description: 'The token of an invitation to this email address.',
      writeOnly: true,
    }),
  })
  .meta({ id: 'SignUp' })

export const signInBody = z
  .strictObject({ email, password: password.meta({ writeOnly: true }) })
  .meta({ id: 'SignIn' })

export const changePasswordBody = z
  .strictObject({
    currentPassword: z.string().max(1000).meta({ writeOnly: true }),
    newPassword: password,
  })
  .meta({ id: 'ChangePassword' })

/**
 * A path that a browser resolves against the gateway's origin must not lead elsewhere, as `//host`
 * and `/\host` do.
 */
const OWN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/

export const beginOidcBody = z
  .strictObject({
    returnTo: z
      .string()
      .max(500)
      .regex(OWN_PATH, { error: 'must be a path of the gateway, such as "/"' })
      .default('/')
      .meta({
        description:
          'The path that the browser opens after the sign-in; with `?error=…` if the sign-in failed.',
      }),
    invitation: invitationToken.optional().meta({
      description:
        'The token of an invitation that the person accepts by signing in. A person without an ' +
        'account needs an invitation.',
      writeOnly: true,
    }),
  })
  .meta({ id: 'BeginOidc' })

export const oidcRedirectBody = z
  .object({ url: z.string().meta({ description: 'The address to send the browser to.' }) })
  .meta({ id: 'OidcRedirect' })

export const signInOptionsBody = z
  .object({
    signUp: z.enum(SIGN_UP_POLICIES),
    oidc: z.boolean().meta({ description: 'Whether users can sign in with an identity provider.' }),
    hasOwner: z.boolean().meta({ description: 'false: the first user has yet to sign up.' }),
  })
  .meta({ id: 'SignInOptions' })

export const accountNameBody = z.object({ id, name }).meta({ id: 'AccountName' })
export const updateAccountBody = z.strictObject({ name }).partial().meta({ id: 'UpdateAccount' })

const userBody = z.object({ id, email: z.string(), name: z.string() }).meta({ id: 'User' })

export const currentSessionBody = z
  .object({
    account: accountNameBody,
    user: userBody.nullable().meta({
      description: 'The signed-in user; null: the request has an API key or an access token.',
    }),
    role: role.nullable(),
    keyId: z
      .string()
      .nullable()
      .meta({ description: 'The id of the key; null: the request has a session.' }),
    accessToken: z
      .object({
        name: z.string(),
        gates: z
          .array(z.string())
          .nullable()
          .meta({ description: 'The existing gates that the token may call; null: all gates.' }),
      })
      .nullable()
      .meta({ description: 'The access token; null: the request has a session or an API key.' }),
    expiresAt: time
      .nullable()
      .meta({ description: 'When the session, key or access token expires.' }),
  })
  .meta({ id: 'CurrentSession' })

export const sessionBody = z
  .object({
    id,
    current: z.boolean().meta({ description: 'Whether this request uses the session.' }),
    createdAt: time,
    expiresAt: time,
    address: z
      .string()
      .nullable()
      .meta({ description: 'The network address from which the session was opened, if known.' }),
    userAgent: z.string().nullable(),
  })
  .meta({ id: 'UserSession' })
export const sessionList = listOf(sessionBody, 'UserSessionList')

const memberBody = z
  .object({
    id: z.string().meta({ description: "The user's id." }),
    email: z.string(),
    name: z.string(),
    role,
    createdAt: time.meta({ description: 'When the user joined.' }),
    stop: stopState,
  })
  .meta({ id: 'Member' })
const updateMemberBody = z
  .strictObject({
    role: z.literal('owner', {
      error: 'must be "owner": the present owner becomes a member',
    }),
  })
  .meta({ id: 'UpdateMember' })

export const memberResource = {
  name: 'Member',
  names: 'Members',
  one: 'member',
  many: 'members',
  path: '/v1/members',
  group: 'Members',
  operations: {
    list: 'List members, newest first',
    update: {
      summary: 'Transfer the account to a member',
      description: 'Only the owner can transfer the account, and then becomes a member.',
      refusals: [403, 409],
      isForUsers: true,
    },
    delete: {
      summary: 'Remove a member, or leave',
      description:
        'Only the owner removes other members; a member can leave. The user is deleted, with every ' +
        'session and open invitation of the user. API keys belong to the account and stay: revoke ' +
        'the keys that the user knew.',
      answers: 'The member is removed.',
      refusals: [403, 409],
      isForUsers: true,
    },
  },
  list: listOf(memberBody, 'MemberList'),
  body: memberBody,
  update: updateMemberBody,
} satisfies ResourceDescription

const invitationFields = {
  id,
  email: z.string(),
  invitedBy: z.string().meta({ description: 'The id of a user or a key, or `command-line`.' }),
  status: z.enum(INVITATION_STATUSES),
  createdAt: time,
  expiresAt: time.meta({ description: 'Seven days after the invitation was created.' }),
}
const invitationBody = z.object(invitationFields).meta({ id: 'Invitation' })
const createdInvitationBody = z
  .object({
    ...invitationFields,
    token: z.string().meta({
      description: 'The token, shown only once. No mail is sent, so pass the token on yourself.',
    }),
    link: z.string().meta({ description: 'The same token as an address to open in a browser.' }),
  })
  .meta({ id: 'CreatedInvitation' })
const createInvitationBody = z.strictObject({ email }).meta({ id: 'CreateInvitation' })

export const invitationResource = {
  name: 'Invitation',
  names: 'Invitations',
  one: 'invitation',
  many: 'invitations',
  path: '/v1/invitations',
  group: 'Members',
  operations: {
    list: 'List invitations, newest first',
    create: {
      summary: 'Create an invitation',
      description:
        'No mail is sent: pass on the link or the token yourself. The invitation works once, for seven days.',
      takes: 'The email address to invite.',
      answers: 'The invitation with its token, shown only once.',
      refusals: [403],
    },
    show: 'Show an invitation',
    delete: {
      summary: 'Revoke an invitation',
      description: 'An accepted invitation cannot be deleted: remove the member instead.',
      answers: 'The invitation is withdrawn.',
      refusals: [409],
    },
  },
  list: listOf(invitationBody, 'InvitationList'),
  body: invitationBody,
  create: createInvitationBody,
  created: createdInvitationBody,
  examples: {
    id: 'inv_01a1fbc63aa470d6877cf556d6121edd',
    create: { 'By email address': { email: 'john@example.com' } },
  },
} satisfies ResourceDescription

export type AccountNameBody = z.infer<typeof accountNameBody>
export type CurrentSessionBody = z.infer<typeof currentSessionBody>
export type SessionBody = z.infer<typeof sessionBody>
