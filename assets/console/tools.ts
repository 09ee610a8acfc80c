import { field, notDone, onSubmit } from './answer.ts';
import type { Api } from './api.ts';
import { confirmed } from './confirm.ts';
import { byId, make, say } from './dom.ts';

/** The form that revokes tokens. */
export function createTools(api: Api): { readonly setToken: (cid: string | null) => void } {
  onSubmit('revoke', (form) => {
    const cid = field(form, 'cid');
    return async () => {
      const isSure = await confirmed({
        title: 'Revoke this token?',
        text: `${cid} opens no stream any more, and neither does a token that was delegated from it. Its open streams end within a second. This cannot be undone.`,
        action: 'Revoke the token',
      });
      if (!isSure) return notDone();
      await api.post('revoke', { cid });
      return make('p', { class: 'done' }, 'Revoked. Streams that use it end within a moment.');
    };
  });
  const own = byId('own-token');
  own.addEventListener('click', () => {
    byId('revoke-cid', HTMLInputElement).value = own.dataset['cid'] ?? '';
    byId('revoke-cid').focus();
  });
  return {
    setToken(cid) {
      own.hidden = cid === null;
      own.dataset['cid'] = cid ?? '';
      say(own, cid === null ? '' : `Fill in this page's own token: ${cid.slice(0, 8)}…${cid.slice(-6)}`);
    },
  };
}
