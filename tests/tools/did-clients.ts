import { CachedResolver } from '@digitalbazaar/did-io';
import { driver } from '@digitalbazaar/did-method-web';
import { Resolver } from 'did-resolver';
import { getResolver as pkhMethod } from 'pkh-did-resolver';
import { getResolver as webMethod } from 'web-did-resolver';

type Document = Readonly<Record<string, unknown>>;

/** What published resolvers make of a DID, as their packages are, by package. A did:pkh they make up without asking. */
export const DID_CLIENTS: Readonly<Record<string, (did: string) => Promise<Document>>> = {
  'did-resolver': async (did) => {
    const resolver = new Resolver({ ...pkhMethod(), ...webMethod() } as never);
    const { didDocument, didResolutionMetadata } = await resolver.resolve(did);
    if (didDocument === null) throw new Error(JSON.stringify(didResolutionMetadata));
    return didDocument as unknown as Document;
  },
  '@digitalbazaar/did-io': async (did) => {
    const resolver = new CachedResolver();
    resolver.use(driver());
    return resolver.get({ did });
  },
};
