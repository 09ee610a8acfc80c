// The screen on which the person makes an account, or finds the one of a passkey.
import { type Account, kindsOf } from '../wallet/account.ts';
import { type Config, predictAddress } from '../wallet/api.ts';
import type { Enclave } from '../wallet/enclave.ts';
import { findAccounts, NoAccountError } from '../wallet/find.ts';
import { keepAccounts } from '../wallet/memory.ts';
import { createPasskey, PasskeyError } from '../wallet/passkey.ts';
import { onPress, showPart, write } from './view.ts';

/** What the screen needs of the page. */
export interface Setup {
  readonly config: Config;
  readonly enclave: Enclave;
  /** What is to be paid with. */
  readonly token: string;
  /** Called once an account was chosen and stored. */
  readonly done: () => Promise<void>;
  readonly cancel: () => void;
  /** Runs a step; shows what it throws, with a way to `again`. */
  readonly guard: (run: () => Promise<void>, again: () => Promise<void>) => Promise<void>;
}

/** Shows the screen; `notice` says what went wrong before. */
export function showSetup(setup: Setup, notice?: string): void {
  const { config, enclave, token, done, cancel, guard } = setup;
  write('setup-notice', notice);
  write('rp', config.rpId);
  write('find', FIND);
  showPart('setup');
  const again = async () => showSetup(setup);
  const use = (open: () => Promise<readonly Account[]>) => {
    const run = async () => {
      try {
        await keepAccounts(await open());
        await done();
      } catch (error) {
        if (error instanceof PasskeyError) return showSetup(setup, refusalOf(error, config));
        if (!(error instanceof NoAccountError)) throw error;
        showSetup(setup, error.account ? NOT_A_KEY : 'This passkey has no account that can pay.');
      }
    };
    return () => void guard(run, again);
  };
  const tokens = [token as 'native'];
  onPress(
    'create',
    use(async () => [await createAccount(setup)]),
  );
  onPress(
    'find',
    use(() => findAccounts({ config, enclave, tokens, again: askAgain })),
  );
  onPress('setup-cancel', cancel);
}

const FIND = 'Use a passkey I have';
const NOT_A_KEY =
  'This passkey does not open its account now. Its account removed it, or a recovery with it is not finished yet.';

/** A browser that does not know related origins, or finds none, says so; else the person refused. */
function refusalOf({ cause }: PasskeyError, { rpId }: Config): string {
  const isForbidden = cause instanceof DOMException && cause.name === 'SecurityError';
  return isForbidden ? `This browser lets no page here use passkeys of ${rpId}.` : 'No passkey was used.';
}

/** Creates a passkey and computes its account, which need not be deployed. */
async function createAccount({ config, enclave }: Setup): Promise<Account> {
  const name = `Vault account of ${new Date().toISOString().slice(0, 10)}`;
  const { credentialId, x, y } = await createPasskey(config.rpId, enclave, { name });
  const [kind = 1] = kindsOf(config);
  return { credentialId, address: await predictAddress({ x, y }, kind), kind, x, y, name };
}

/** Nothing on the chain tells the passkey's account from another. Browsers want a press for every passkey prompt. */
function askAgain(): Promise<void> {
  write('setup-notice', 'This passkey has not paid yet. Confirm it once more, so that the right account is found.');
  write('find', 'Confirm once more');
  return new Promise((resolve) => onPress('find', resolve));
}
