// The page on which a person reads what an app asks them to approve, and has their passkey sign it.
import type { Approver } from '../../client/approval-answer.ts';
import { hasPasskeys } from '../../client/vault/passkeys.ts';
import { type Account, NoAccountError } from '../../client/wallet/account.ts';
import { PasskeyError } from '../../client/wallet/passkey.ts';
import { type Config, UnreachableError } from '../../client/wallet/vault.ts';
import { readConfig } from '../wallet/api.ts';
import { keepAccounts, readAccounts } from '../wallet/memory.ts';
import { namedAccount } from '../wallet/payer.ts';
import { promptWord } from '../wallet/prompt.ts';
import { onArmedPress, onPress, short, toggle, write, writeNetwork } from '../wallet/view.ts';
import { loadWords, word } from '../words/words.ts';
import { type Channel, openChannel } from './channel.ts';
import { type Problem, problemOf, showProblem } from './problem.ts';
import { type ApprovalRequest, RequestError, readRequest } from './request.ts';
import { writeReview } from './review.ts';
import { type Setup, showSetup } from './setup.ts';
import { approverOf, sign } from './sign.ts';
import { balanceFor, sumOf } from './transfer-review.ts';
import { showPart } from './view.ts';

let channel: Channel | undefined;
let hasWords = false;
/** The request is over: nothing is signed, or answered, any more. */
let isOver = false;
/** Counts what the person was shown: what was begun on an earlier screen is void. */
let turn = 0;

void guard(start);

async function start(): Promise<void> {
  showPart('loading');
  hasWords ||= await loadWords('approve');
  if (!hasWords) throw new UnreachableError('no words');
  channel ??= await openChannel(location);
  channel.onAbort = () => end('aborted');
  const config = await readConfig();
  writeNetwork('chain', config);
  const request = readRequest(channel.asked, channel.asker, { now: Date.now(), chainId: config.chainId });
  setTimeout(() => end('expired'), request.expires * 1000 - Date.now());
  if (!hasPasskeys()) return problem('passkeys_unavailable');
  await proceed(request, config);
}

/** At the account that the app names, else the one used last here; else the passkey is asked for it. */
async function proceed(request: ApprovalRequest, config: Config): Promise<void> {
  const { person } = request;
  const named = person && (await namedAccount(person, config))?.account;
  const account = person ? named : (await accountsFor(request))[0];
  if (account && isMeant(request, account)) return review(request, config, account);
  await setUp(request, config, { person });
}

/**
 * Those of this device that may approve it; the payee itself only where there is no other. A browser that stores
 * nothing has none.
 */
async function accountsFor(request: ApprovalRequest) {
  const all = await readAccounts().catch(() => []);
  const meant = all.filter((account) => isMeant(request, account));
  const payers = meant.filter(({ address }) => address !== request.transfer?.to);
  return payers.length > 0 ? payers : meant;
}

/** A transfer may name the account that pays: it has its place in what is signed. */
function isMeant({ transfer }: ApprovalRequest, { address }: Account): boolean {
  return (transfer?.from ?? address) === address;
}

interface SetUp {
  readonly person?: Setup['person'];
  /** The account that the person comes from. */
  readonly from?: Account;
  readonly notice?: string;
}

async function setUp(request: ApprovalRequest, config: Config, { person, from, notice }: SetUp = {}): Promise<void> {
  const mine = ++turn;
  const held = person ? [] : await accountsFor(request);
  if (isOver || turn !== mine) return;
  const done = (account: Account) => void guard(() => choose(account));
  const choose = (account: Account) => {
    if (isMeant(request, account)) return review(request, config, account);
    const address = short(request.transfer?.from ?? '');
    return setUp(request, config, { person, notice: word('setup.other', { address }) });
  };
  const back = from && (() => done(from));
  const guarded = (run: () => Promise<void>) => void guard(run);
  showSetup({ config, person, held, done, back, cancel: giveUp, guard: guarded }, notice);
}

/** Shows what is asked with an account, whose passkey signs it at a press. */
async function review(request: ApprovalRequest, config: Config, account: Account): Promise<void> {
  const mine = ++turn;
  const { transfer } = request;
  showPart('loading');
  if (transfer?.to === account.address) throw new RequestError('own_payee');
  const [approver, balance] = await Promise.all([
    approverOf(account, config),
    transfer && balanceFor(transfer, account),
  ]);
  if (isOver || turn !== mine) return;
  const show = (words?: string) => {
    writeReview(request, { account, config, balance });
    write('review-notice', words);
    showPart('review');
    onArmedPress('approve', () => void guard(() => approve(request, { account, approver, config, show })));
  };
  toggle('other', transfer?.from === undefined);
  onPress('other', () => void guard(() => setUp(request, config, { from: account })));
  onPress('recheck', () => void guard(() => review(request, config, account)));
  onPress('cancel', giveUp);
  show();
}

interface Reviewed {
  readonly account: Account;
  readonly approver: Approver;
  readonly config: Config;
  readonly show: (words?: string) => void;
}

async function approve(request: ApprovalRequest, { account, approver, config, show }: Reviewed): Promise<void> {
  const mine = turn;
  if (request.expires * 1000 < Date.now()) throw new RequestError('expired');
  try {
    const answer = await sign(request, approver, config);
    if (isOver || turn !== mine || !channel?.isOpen()) return;
    isOver = true;
    await keepAccounts([account]).catch(() => undefined);
    write('done-words', doneWords(request));
    onPress('close', () => window.close());
    showPart('done');
    channel.answer(answer);
  } catch (error) {
    if (isOver) return;
    if (error instanceof PasskeyError) return show(word(promptWord(error) ?? 'review.passkey'));
    // The app named somebody else's account, or the key is none any more: the passkey itself shows its account.
    if (error instanceof NoAccountError) return setUp(request, config);
    throw error;
  }
}

function doneWords({ asker, transfer }: ApprovalRequest): string {
  const app = new URL(asker.origin).host;
  return transfer ? word('transfer.done', { app, sum: sumOf(transfer) }) : word('done.words', { app });
}

function giveUp(): void {
  isOver = true;
  channel?.cancel('cancelled');
}

/** The app or the clock ends the request. */
function end(why: Problem): void {
  if (isOver) return;
  isOver = true;
  problem(why);
}

function problem(of: Problem, again?: () => void): void {
  showProblem(of, again, () => {
    if (channel) channel.cancel(of);
    else window.close();
  });
}

/** Runs a step of the page. Its errors become words, with a way to try again where that can help. */
async function guard(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const [of, canRetry] = problemOf(error);
    if (of === 'unexpected') console.error(error);
    problem(of, canRetry ? () => void guard(start) : undefined);
  }
}
