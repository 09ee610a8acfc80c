// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title For tests: a registry of another project, whose aliases move and which has no `aliases(bytes32)`
contract ResolvingRegistry {
    struct Registration {
        address controller;
        uint256 created;
        uint256 updated;
        bool active;
        string metadataCid;
    }

    mapping(bytes32 aliasHash => bytes32 didHash) private _aliases;
    mapping(bytes32 didHash => Registration) private _registrations;

    event DIDRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid);
    event AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash);

    error UnknownAlias(bytes32 aliasHash);

    function register(bytes32 didHash, bytes32 aliasHash, string calldata metadataCid) external {
        _registrations[didHash] = Registration(msg.sender, block.timestamp, block.timestamp, true, metadataCid);
        emit DIDRegistered(didHash, msg.sender, metadataCid);
        if (aliasHash != 0) point(aliasHash, didHash);
    }

    /// @notice Lets an alias lead to another DID.
    function point(bytes32 aliasHash, bytes32 didHash) public {
        _aliases[aliasHash] = didHash;
        emit AliasRegistered(aliasHash, didHash);
    }

    /// @notice Reverts for a free alias.
    function resolveAlias(bytes32 aliasHash)
        external
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        if (_aliases[aliasHash] == 0) revert UnknownAlias(aliasHash);
        return resolve(_aliases[aliasHash]);
    }

    function resolve(bytes32 didHash)
        public
        view
        returns (address controller, uint256 created, uint256 updated, string memory metadataCid, bool active)
    {
        Registration storage found = _registrations[didHash];
        return (found.controller, found.created, found.updated, found.metadataCid, found.active);
    }
}
