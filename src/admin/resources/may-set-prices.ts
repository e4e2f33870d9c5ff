/** Who may set prices over the API: the operator, where the server's setting allows it. */
import { GatewayError } from '../../core/errors.ts'
import {
  assertOperator,
  type ControlPlaneCaller,
  type ControlPlaneDependencies,
} from '../control-plane-app.ts'

type Setters = Pick<ControlPlaneDependencies, 'operatorAccount' | 'hasOperatorApi'>

export function maySetPrices(caller: ControlPlaneCaller, dependencies: Setters): boolean {
  try {
    assertMaySet(caller, dependencies)
    return true
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}

/** @throws GatewayError `forbidden` */
export function assertMaySet(
  caller: ControlPlaneCaller,
  { operatorAccount, hasOperatorApi }: Setters,
): ControlPlaneCaller {
  assertOperator(caller, operatorAccount)
  if (!hasOperatorApi)
    throw new GatewayError(
      'forbidden',
      'This server does not take prices by its API. Set GATEHOUSE_OPERATOR_API=on, or declare ' +
        'the price in the section models of gatehouse.yaml.',
    )
  return caller
}
