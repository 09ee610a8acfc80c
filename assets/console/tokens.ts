import type { ConsoleKeys } from '../../client/vault/wire.ts';
import { answerInto, explain, field, notDone, onSubmit } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { byId, definitions, make, say } from './dom.ts';
import { copyable, shortened } from './lists/copy.ts';
import { moment } from './lists/moment.ts';
import { createTable } from './lists/table.ts';
import { mayAct } from './role.ts';
import type { View } from './shell.ts';
import { keyTable } from './signing-keys.ts';

type StreamToken = ConsoleKeys['stream_tokens'][number];

/** The vault's keys by their public parts, the tokens that have opened a stream, and the buttons that revoke one. */
export function createTokens(
  api: Api,
): { readonly setToken: (cid: string | null) => void } & Required<Pick<View, 'open' | 'refresh'>> {
  const facts = make('div', { id: 'keys-facts' });
  const list = make('div', { class: 'scroll', id: 'tokens-list' });
  const revoke = async (cid: string): Promise<Node> => {
    const isSure = await confirmed({
      title: 'Revoke this token?',
      text: `${cid} opens no stream any more, and neither does a token that was delegated from it. Its open streams end within a second. This cannot be undone.`,
      action: 'Revoke the token',
    });
    if (!isSure) return notDone();
    await api.post('revoke', { cid });
    void refresh();
    return make('p', { class: 'done' }, 'Revoked. Streams that use it end within a moment.');
  };
  let shown = '';
  const refresh = async (): Promise<void> => {
    try {
      const keys = (await api.get('keys')) as ConsoleKeys;
      const text = JSON.stringify([mayAct(), keys]);
      // A person on one of the rows keeps it under the finger.
      if (text === shown || list.contains(document.activeElement)) return;
      shown = text;
      facts.replaceChildren(factsOf(keys), heading('Keys of credentials'), credentialKeysOf(keys));
      const table = tableOf(({ cid }) => mayAct() && void answerInto(byId('revoke-answer'), () => revoke(cid)));
      table.show(keys.stream_tokens);
      const nothing = make('p', { class: 'empty' }, 'No token has opened a stream.');
      list.replaceChildren(keys.stream_tokens.length === 0 ? nothing : table.element);
    } catch (error) {
      shown = '';
      list.replaceChildren(make('p', { class: 'failure' }, explain(error)));
    }
  };
  onSubmit('revoke', (form) => () => revoke(field(form, 'cid')));
  const own = byId('own-token');
  own.addEventListener('click', () => {
    byId('revoke-cid', HTMLInputElement).value = own.dataset['cid'] ?? '';
    byId('revoke-cid').focus();
  });
  return {
    open({ body }) {
      if (body.contains(list)) return;
      body.append(heading('Tokens that have opened a stream'), list, heading('Keys of the vault'), facts);
    },
    refresh,
    setToken(cid) {
      own.hidden = cid === null;
      own.dataset['cid'] = cid ?? '';
      say(own, cid === null ? '' : `Fill in this page's own token: ${cid.slice(0, 8)}…${cid.slice(-6)}`);
    },
  };
}

const heading = (text: string) => make('h2', {}, text);

function factsOf({ registrar_did, operator_did, attestation_keys, registrar, guardian }: ConsoleKeys): Node {
  return definitions([
    ['vault', copyable(registrar_did, 'DID of the vault')],
    ['signs tokens', copyable(operator_did, 'DID that signs tokens')],
    ['attestation keys', attestation_keys === 1 ? '1' : `${attestation_keys}: the first signs, all are taken`],
    ['registrar', registrar === null ? 'none: nothing is relayed' : copyable(registrar, 'address of the registrar')],
    ['guardian', guardian === null ? 'none: no account is recovered' : copyable(guardian, 'address of the guardian')],
  ]);
}

function credentialKeysOf({ credential_keys: keys }: ConsoleKeys): Node {
  return keys.length === 0
    ? make('p', { class: 'empty' }, 'None: the first credential makes one, where CREDENTIAL_TTL_SECONDS is not 0.')
    : keyTable('Keys of credentials', keys);
}

function tableOf(revoke: (one: StreamToken) => void) {
  return createTable<StreamToken>({
    caption: 'Tokens of the stream, the newest first',
    first: { name: 'token', cell: ({ cid }) => `${mayAct() ? 'Revoke ' : ''}${cid.slice(0, 8)}…${cid.slice(-6)}` },
    columns: [
      { name: 'CID', cell: ({ cid }) => shortened(cid) },
      { name: 'until', cell: ({ expires_at }) => moment(expires_at) },
    ],
    open: revoke,
  });
}
