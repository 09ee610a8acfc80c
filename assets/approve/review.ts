// The review before the person approves.
import { checksum } from '../../client/checksum.ts';
import { keccak256 } from '../../client/keccak.ts';
import type { Account } from '../../client/wallet/account.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { hostNode, hostOf } from '../wallet/asker.ts';
import { element, toggle, write } from '../wallet/view.ts';
import { spoken, word, wordWith } from '../words/words.ts';
import type { ApprovalRequest } from './request.ts';
import { writeTransfer } from './transfer-review.ts';

/** As whom the person approves. */
export interface Shown {
  readonly account: Account;
  readonly config: Config;
  /** Of USDC, where it is paid. */
  readonly balance: bigint | undefined;
}

/** Writes what is asked, who asks, and as whom the person approves. */
export function writeReview(request: ApprovalRequest, { account, config, balance }: Shown): void {
  const { asker, id, text, transfer, expires } = request;
  const isLink = asker.via === 'link';
  write('asker-words', isLink ? word('review.link') : word('review.asker'));
  write('asker', hostOf(asker.origin));
  // Bold is an origin that the browser vouches for. A link may name any site.
  element('asker').className = isLink ? '' : 'known';
  const { host } = new URL(asker.origin);
  write('warning', isLink ? word('warn.link', { app: host }) : undefined);
  write('account', account.name);
  write('until', new Date(expires * 1000).toLocaleString(spoken(), TIME));
  write('address', checksum(account.address.slice(2), keccak256));
  write('network', `${config.chain} (${config.chainId})`);
  write('reference', transfer?.nonce ?? id);
  toggle('text', text !== undefined);
  for (const row of ['row-to', 'row-for', 'row-balance', 'row-token']) toggle(row, transfer !== undefined);
  element('text').textContent = text ?? '';
  if (transfer) writeTransfer(transfer, balance ?? 0n);
  else element('approve').replaceChildren(...wordWith('review.approve_for', { app: hostNode(host) }));
}

const TIME = {
  ...({ year: 'numeric', month: 'short', day: 'numeric' } as const),
  ...({ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' } as const),
} as const;
