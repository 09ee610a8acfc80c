// What an app asks somebody to approve.
import { APPROVAL_SECONDS_MAX, isApprovalId, secondsOf } from '../../client/approval-terms.ts';
import { faultOfText, type TextFault } from '../../client/approval-text.ts';
import type { Asker } from '../wallet/asker.ts';
import { type Payer, readPayer } from '../wallet/payer.ts';

/** A request whose form is right. */
export interface ApprovalRequest {
  readonly asker: Asker;
  readonly id: string;
  readonly text: string;
  /** In seconds since 1970. */
  readonly expires: number;
  /** The person whom the app names. */
  readonly person: Payer | undefined;
}

/** Why a request cannot be approved. */
export type RequestFault = 'bad_id' | 'bad_expiry' | 'expired' | `text_${TextFault}`;

/** A request that is refused before the person sees it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly fault: RequestFault;

  constructor(fault: RequestFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Less than this is no time to read a text. */
const SECONDS_MIN = 10;

/** Validates a request, and ignores unknown members; `now` is in milliseconds. Throws `RequestError`. */
export function readRequest(asked: Readonly<Record<string, unknown>>, asker: Asker, now: number): ApprovalRequest {
  const { id, text } = asked;
  const fault = faultOfText(text);
  if (fault) throw new RequestError(`text_${fault}`);
  if (!isApprovalId(id)) throw new RequestError('bad_id');
  const expires = secondsOf(asked['expires']);
  if (expires === undefined || expires * 1000 > now + APPROVAL_SECONDS_MAX * 1000) throw new RequestError('bad_expiry');
  if (expires * 1000 < now + SECONDS_MIN * 1000) throw new RequestError('expired');
  return { asker, id, text: text as string, expires, person: readPayer(asked['person']) };
}
