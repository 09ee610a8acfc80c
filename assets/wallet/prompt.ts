// Why a prompt for a passkey gave none, by the name of its DOMException.

/** The reasons that have words on every page, as ids of its catalogue; any other name means a device that failed. */
const REASONS = {
  AbortError: 'prompt.replaced',
  OperationError: 'prompt.busy',
  SecurityError: 'prompt.foreign',
  InvalidStateError: 'prompt.there',
  NotSupportedError: 'prompt.unfit',
  TypeError: 'prompt.unfit',
  ConstraintError: 'prompt.locked',
} as const;

/** A reason in words. */
export type PromptWord = (typeof REASONS)[keyof typeof REASONS] | 'prompt.broken';

/** The word for a failed prompt; undefined where the person refused, waited too long, or has no such passkey. */
export function promptWord(error: unknown): PromptWord | undefined {
  const name = nameOf(error);
  if (name === undefined || REFUSED.includes(name)) return undefined;
  return Object.hasOwn(REASONS, name) ? REASONS[name as keyof typeof REASONS] : 'prompt.broken';
}

/** Browsers do not say which of the three it was. */
const REFUSED = ['NotAllowedError', 'TimeoutError'];

/** The name of the innermost cause: the browser's error. */
function nameOf(error: unknown): string | undefined {
  let last: unknown = error;
  while (last instanceof Error && last.cause instanceof Error) last = last.cause;
  return last === error || !(last instanceof Error) ? undefined : last.name;
}
