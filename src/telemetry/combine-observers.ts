/** Several observers as one, none of which can break a call or keep the others from being told. */
import type { CallObserver, CallTrace } from '../gateway/call-observer.ts'

/**
 * @param onFault told of what an observer threw, once for each of them
 * @returns undefined where there is nobody to tell
 */
export function combineObservers(
  observers: readonly CallObserver[],
  onFault: (error: unknown) => void,
): CallObserver | undefined {
  if (observers.length === 0) return undefined
  const faulty = new Set<CallObserver>()
  const fault = (observer: CallObserver, error: unknown): void => {
    if (faulty.has(observer)) return
    faulty.add(observer)
    onFault(error)
  }
  return {
    begin(headers) {
      let trace: CallTrace | undefined
      for (const observer of observers) {
        try {
          trace = observer.begin(headers) ?? trace
        } catch (error) {
          fault(observer, error)
        }
      }
      return trace
    },
    finish(record, attempts, trace) {
      for (const observer of observers) {
        try {
          observer.finish(record, attempts, trace)
        } catch (error) {
          fault(observer, error)
        }
      }
    },
    refuse(refusal, trace) {
      for (const observer of observers) {
        try {
          observer.refuse(refusal, trace)
        } catch (error) {
          fault(observer, error)
        }
      }
    },
  }
}
