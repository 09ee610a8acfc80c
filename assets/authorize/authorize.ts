// The page on which people sign in to an app, or sign up for it: address, code, passkey, and back to the app.
import { hasPasskeys } from '../../client/vault/passkeys.ts';
import { promptWord } from '../wallet/prompt.ts';
import { inLanguages, loadWords, word } from '../words/words.ts';
import { type Answer, readPageConfig } from './api.ts';
import { metaOf, showFault } from './fault.ts';
import { guardPresses } from './guard.ts';
import { cancel, leave } from './leave.ts';
import { parseLink } from './link.ts';
import { forgetDevice, isKnownHere, isSameRequest, mayLead, openTabMemory } from './memory.ts';
import { offerInField, signHere } from './offer.ts';
import { channelsOf, type Place } from './place.ts';
import { problemOf, refusalOf, showProblem, showUnreached, soonOf } from './problem.ts';
import { type Address, askStart, noteAsked, type StartOptions } from './screens.ts';
import { InsteadError } from './sign-up.ts';
import { noteNonce } from './token.ts';
import { element, offerCancel, onPress, show, write } from './view.ts';
import { begin, signIn } from './ways.ts';
import { problemText } from './words.ts';

const memory = openTabMemory();

async function open(): Promise<void> {
  show('loading');
  const fault = metaOf('vault-fault');
  if (fault !== undefined) return showFault(fault, load);
  const link = parseLink(location.search, metaOf('vault-app'));
  // The words come first: errors are shown in the person's language.
  const [config, hasWords] = await Promise.all([
    readPageConfig().catch((error: unknown) => ({ error })),
    loadWords('authorize', link?.appId, link?.languages),
  ]);
  if (!hasWords) return showUnreached(load);
  if ('error' in config) throw config.error;
  if (!link) return showProblem('link', {}, []);
  // Passkeys work, and the vault takes their signatures, at one origin.
  if (location.origin !== config.issuer) {
    if (!mayLead()) return showProblem('unexpected', {}, []);
    return location.replace(config.issuer + location.pathname + location.search);
  }
  noteAsked(link);
  noteNonce(config.tokenNonce);
  const { host: app } = link;
  const place: Place = { link, config, app };
  write('app', app);
  document.title = word('title', { app });
  element('cancel').replaceChildren(...inLanguages(word('cancel', { app })));
  onPress('cancel', () => cancel(place));
  const back = { name: word('back', { app }), act: () => cancel(place) };
  if (!hasPasskeys()) return showProblem('passkeys_unavailable', { app }, [back]);
  guardPresses();
  offerCancel(true);
  const before = isSameRequest(link, memory) ? begun() : undefined;
  if (before) return run(place, () => begin(place, before));
  start(place);
}

/** The address of a sign-up that this link began in this tab. */
function begun(): Address | undefined {
  const { identifier, channel, sent, attestation, request } = memory.read() ?? {};
  if (identifier === undefined || channel === undefined || channel === 'handle') return undefined;
  return sent || attestation || request ? { identifier, channel } : undefined;
}

/** `isFar`: no passkey of this device will do, so others are asked for, too. */
type StartAgain = Partial<StartOptions> & { readonly isFar?: boolean };

/** The first screen. */
function start(place: Place, { isFar = false, ...more }: StartAgain = {}): void {
  const { link, config, app } = place;
  const { full } = config;
  const notice = full ? problemText(full.error, { soon: soonOf(full.retry_after ?? undefined) }).join('. ') : undefined;
  const asked = {
    app,
    channels: full ? [] : channelsOf(place),
    isKnown: isKnownHere() && !link.isSignUp,
    hint: link.loginHint,
    notice,
    ...more,
  };
  run(place, async () => {
    const offer = asked.channels.length > 0 ? offerInField(place) : undefined;
    const chosen = await Promise.race([askStart(asked), ...(offer ? [offer.signed] : [])]);
    offer?.withdraw();
    if (chosen !== 'forget') {
      const sign = isFar ? undefined : () => signHere(place);
      // A way of its own: to try again is not to be asked again.
      run(place, () => {
        if (chosen === 'sign-in') return signIn(place, sign);
        return 'evidence' in chosen ? signIn(place, async () => chosen) : begin(place, chosen.address, chosen.token);
      });
      return undefined;
    }
    memory.forget();
    await forgetDevice();
    start(place);
    return undefined;
  });
}

/** Runs a way, and goes back with its answer. Its errors become words, with a way on. */
function run(place: Place, act: () => Promise<Answer | undefined>): void {
  act().then(
    (answer) => {
      if (answer) leave(answer);
    },
    (error: unknown) => goOn(place, act, error),
  );
}

function goOn(place: Place, act: () => Promise<Answer | undefined>, error: unknown) {
  const { app } = place;
  if (error instanceof InsteadError) {
    if (error.way === 'other-address') {
      memory.forget();
      element<HTMLInputElement>('address').value = '';
      return start(place);
    }
    if (error.way === 'form') return start(place, { notice: word('passkey.none_here'), isFar: true, isKnown: false });
    // A recovery takes days: the app's link is for another visit.
    if (error.way === 'recover') return location.assign(`/account?app=${place.link.appId}#recover`);
    return run(place, () => signIn(place));
  }
  const said = refusalOf(error)?.error ?? '';
  if (said === 'passkey_refused') return start(place, { notice: word(promptWord(error) ?? 'passkey.refused') });
  if (said.startsWith('Invalid identifier')) {
    memory.forget();
    const channels = channelsOf(place);
    const kind = channels.length > 1 ? 'both' : channels[0] === 'sms' ? 'phone' : 'email';
    return start(place, { fault: word(`start.fault_${kind}`) });
  }
  const { id, values, detail } = problemOf(error);
  const again = { name: word('retry'), act: () => run(place, act) };
  const over = { name: word('start_over'), act: () => start(place) };
  const isOver = STARTS_OVER.test(id) || (refusalOf(error)?.retryAfter ?? 0) > SOON_SECONDS;
  const why = said === 'passkey_unsupported' ? promptWord(error) : undefined;
  showProblem(id, { app, ...values }, isOver ? [over] : [again, over], detail, why && word(why));
}

/** Somebody who has to wait longer may use another address. */
const SOON_SECONDS = 60;
/** Problems that trying the same again does not mend. */
const STARTS_OVER =
  /^(?:attestation_|identifier_(?:reserved|taken)|credential_|did_taken|not_found|not_offered|passkey|proof_invalid\.(?:account|did)|registration_(?!pending)|invite_|mail_)/;

/** Opens the page, again after a failure. */
function load(): void {
  open().catch((error: unknown) => {
    const { id, values, detail } = problemOf(error);
    showProblem(id, values, [{ name: word('retry'), act: load }], detail);
  });
}

// A page that comes back from the browser's memory is over.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
load();
