#include "store/operation.hpp"

namespace oncegate::store {
namespace {

struct IdOf {
    const RecordId& operator()(const Claim& operation) const { return operation.id; }
    const RecordId& operator()(const Lookup& operation) const { return operation.id; }
    const RecordId& operator()(const GetChunk& operation) const { return operation.id; }
    template <class OwnersChange>
    const RecordId& operator()(const OwnersChange& operation) const {
        return operation.hold.id;
    }
};

struct NameOf {
    const char* operator()(const Claim&) const { return "claim"; }
    const char* operator()(const Complete&) const { return "complete"; }
    const char* operator()(const Release&) const { return "release"; }
    const char* operator()(const MarkUnknown&) const { return "mark_unknown"; }
    const char* operator()(const Renew&) const { return "renew"; }
    const char* operator()(const PutChunk&) const { return "put_chunk"; }
    const char* operator()(const Lookup&) const { return "lookup"; }
    const char* operator()(const GetChunk&) const { return "get_chunk"; }
};

}  // namespace

const RecordId& id_of(const Operation& operation) { return std::visit(IdOf{}, operation); }

const char* name_of(const Operation& operation) { return std::visit(NameOf{}, operation); }

}  // namespace oncegate::store
