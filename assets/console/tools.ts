import { field, onSubmit, render } from './answer.ts';
import type { Api } from './api.ts';
import { byId, make, say } from './dom.ts';

/** The forms that look up registrations and revoke tokens. */
export function createTools(api: Api): { readonly setToken: (cid: string | null) => void } {
  onSubmit('lookup', (form) => {
    const [by, value] = [field(form, 'by'), field(form, 'value')];
    return async () => {
      const found = (await api.get('registrations', { [by]: value })) as { registrations: readonly unknown[] };
      if (found.registrations.length > 0) return render(found.registrations);
      return make(
        'p',
        { class: 'empty' },
        'No registration found. A session without a registration is in the events of the channel sessions.',
      );
    };
  });
  onSubmit('revoke', (form) => {
    const cid = field(form, 'cid');
    return async () => {
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
