// The API's answers, as its description types them.
import type { Registrations, Sessions } from '../../../client/vault/wire.ts';

export type { RegistrationDetail } from '../../../client/vault/wire.ts';

/** A registration. */
export type Registration = Registrations['registrations'][number];

/** A session. */
export type Session = Sessions['sessions'][number];

/** Where a list goes on, and how long it is. */
export type Page = Pick<Sessions, 'next' | 'searchedTo' | 'total'>;
