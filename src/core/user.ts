export const SIGN_UP_POLICIES = ['invitation', 'open', 'closed'] as const
export type SignUpPolicy = (typeof SIGN_UP_POLICIES)[number]

export const INVITATION_STATUSES = ['open', 'accepted', 'expired'] as const
export type InvitationStatus = (typeof INVITATION_STATUSES)[number]
