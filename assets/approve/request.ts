// What an app asks somebody to approve: a text, or a transfer of USDC. Never both.
import { APPROVAL_SECONDS_MAX, isApprovalId, secondsOf } from '../../client/approval-terms.ts';
import { faultOfText, type TextFault } from '../../client/approval-text.ts';
import type { Asker } from '../wallet/asker.ts';
import { type Payer, readPayer } from '../wallet/payer.ts';
import { readTransfer, type Transfer, type TransferFault } from './transfer.ts';

interface Common {
  readonly asker: Asker;
  readonly id: string;
  /** In seconds since 1970. */
  readonly expires: number;
  /** The person whom the app names. */
  readonly person: Payer | undefined;
}

/** A request whose form is right. */
export type ApprovalRequest =
  | (Common & { readonly text: string; readonly transfer?: never })
  | (Common & { readonly transfer: Transfer; readonly text?: never });

/** Why a request cannot be approved. */
export type RequestFault =
  | ('bad_form' | 'bad_id' | 'bad_expiry' | 'expired' | 'own_payee' | `text_${TextFault}`)
  | TransferFault;

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

/** `now` is in milliseconds. */
interface Judge {
  readonly now: number;
  readonly chainId: number;
}

/** Validates a request, and ignores unknown members. Throws `RequestError`. */
export function readRequest(asked: Readonly<Record<string, unknown>>, asker: Asker, judge: Judge): ApprovalRequest {
  const { id, form, text, authorization } = asked;
  const isTransfer = form === 'transfer-authorization';
  // A page shows one of them: what it shows is all that is signed.
  if ((form !== undefined && !isTransfer) || (isTransfer ? text : authorization) !== undefined)
    throw new RequestError('bad_form');
  const shown = isTransfer ? transferIn(asked, judge) : textIn(asked, judge);
  if (!isApprovalId(id)) throw new RequestError('bad_id');
  if (shown.expires * 1000 < judge.now + SECONDS_MIN * 1000) throw new RequestError('expired');
  return { asker, id, person: readPayer(asked['person']), ...shown };
}

function textIn({ text, expires }: Readonly<Record<string, unknown>>, { now }: Judge) {
  const fault = faultOfText(text);
  if (fault) throw new RequestError(`text_${fault}`);
  const end = secondsOf(expires);
  if (end === undefined || end * 1000 > now + APPROVAL_SECONDS_MAX * 1000) throw new RequestError('bad_expiry');
  return { text: text as string, expires: end };
}

function transferIn(asked: Readonly<Record<string, unknown>>, { now, chainId }: Judge) {
  const transfer = readTransfer(asked, { now: now / 1000, chainId });
  if (typeof transfer === 'string') throw new RequestError(transfer);
  return { transfer, expires: transfer.validBefore };
}
