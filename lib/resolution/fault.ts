/** The errors of DID Resolution 1.0 that this resolver gives, each with its title and its HTTP status. */
export const RESOLUTION_ERRORS = {
  INVALID_DID: { title: 'Invalid DID', status: 400 },
  INVALID_OPTIONS: { title: 'Invalid options', status: 400 },
  NOT_FOUND: { title: 'Not found', status: 404 },
  REPRESENTATION_NOT_SUPPORTED: { title: 'Representation not supported', status: 406 },
  INTERNAL_ERROR: { title: 'Internal error', status: 500 },
  METHOD_NOT_SUPPORTED: { title: 'Method not supported', status: 501 },
  FEATURE_NOT_SUPPORTED: { title: 'Feature not supported', status: 501 },
} as const;

/** One of `RESOLUTION_ERRORS`. */
export type ResolutionErrorName = keyof typeof RESOLUTION_ERRORS;

/** Why a DID is not resolved; the message is for the caller. */
export class ResolutionError extends Error {
  override readonly name = 'ResolutionError';
  readonly type: ResolutionErrorName;

  constructor(type: ResolutionErrorName, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.type = type;
  }
}
